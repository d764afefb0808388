"""Who takes part."""

from e2e.cluster.credentials import ADMIN as ADMINISTRATOR
from e2e.cluster.credentials import TENANTS
from e2e.demo.script import Person

ADMIN = Person("admin", ADMINISTRATOR, "default")
RED = Person("red", TENANTS[0], "team-red")
BLUE = Person("blue", TENANTS[1], "team-blue")
EVERYBODY = (ADMIN, RED, BLUE)

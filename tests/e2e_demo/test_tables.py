"""Reading what kubectl prints."""

import pytest

from e2e.demo.errors import NotSoError
from e2e.demo.tables import cell, node_ports, row, rows

TWO_TABLES = """\
NAME           READY   STATUS
pod/notebook   1/1     Running

NAME               TYPE       PORT(S)
service/notebook   NodePort   6006:31872/TCP,8888:30688/UDP
"""
WITH_GAPS = """\
NAME       IN FORCE   NODE   AGE
notebook              n-0    1s
editor     true              25s
"""


def test_tables_apart_by_a_blank_line_are_read_one_by_one() -> None:
    assert ["pod/notebook", "service/notebook"] == [found["NAME"] for found in rows(TWO_TABLES)]
    assert "NodePort" == cell(TWO_TABLES, "service/notebook", "TYPE")


def test_an_empty_cell_is_empty_and_shifts_nothing() -> None:
    assert {"NAME": "notebook", "IN FORCE": "", "NODE": "n-0", "AGE": "1s"} == row(
        WITH_GAPS, "notebook"
    )
    assert "" == cell(WITH_GAPS, "editor", "NODE")


def test_what_is_no_table_has_no_rows() -> None:
    assert () == rows("No resources found in team-red namespace.\n")
    assert () == rows("")


def test_a_row_or_a_column_that_is_missing_is_told_by_name() -> None:
    with pytest.raises(NotSoError, match="there is no lost"):
        row(WITH_GAPS, "lost")
    with pytest.raises(NotSoError, match="no column PHASE, only NAME, IN FORCE, NODE, AGE"):
        cell(WITH_GAPS, "editor", "PHASE")


def test_a_port_is_its_number_and_its_protocol() -> None:
    assert {"53/TCP": 31000, "53/UDP": 31001} == node_ports("53:31000/TCP,53:31001/UDP")
    assert {} == node_ports("")


def test_a_port_without_a_node_port_is_not_so() -> None:
    with pytest.raises(NotSoError, match=r"'53:\?/TCP'"):
        node_ports("53:?/TCP")

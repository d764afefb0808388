// Command deviceplugin pretends, for tests, to own accelerators. It registers each resource
// with the kubelet as a device plugin does and answers an allocation with environment
// variables, and with a device node where one is named.
//
// Each argument is RESOURCE=COUNT=VARIABLE[=DEVICE]: COUNT devices, whose ids a container
// finds in VARIABLE, separated by commas, and the node DEVICE of the machine in its own /dev.
//
// What was allocated is written as one JSON line each to standard output. The folder named
// by -state rules what happens: a file RESOURCE.unhealthy (slash as a dash) holds the ids of
// sick devices, one a line; while a file RESOURCE.refuse is there, allocations are refused
// with its text.
package main

import (
	"flag"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

const look = 200 * time.Millisecond

func main() {
	state := flag.String("state", ".", "the folder that rules health and refusals")
	flag.Parse()
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	for _, argument := range flag.Args() {
		p, err := parse(argument, *state)
		if err != "" {
			log.Fatalf("%s: %s", argument, err)
		}
		go p.serve()
	}
	if flag.NArg() == 0 {
		log.Fatal("no resource is named: RESOURCE=COUNT=VARIABLE[=DEVICE]")
	}
	select {}
}

func parse(argument, state string) (*plugin, string) {
	part := strings.Split(argument, "=")
	if len(part) < 3 || len(part) > 4 {
		return nil, "not RESOURCE=COUNT=VARIABLE[=DEVICE]"
	}
	count, err := strconv.Atoi(part[1])
	if err != nil || count < 1 {
		return nil, "the count is no positive number"
	}
	p := &plugin{resource: part[0], count: count, variable: part[2], state: state}
	if len(part) == 4 {
		if _, err := os.Stat(part[3]); err != nil {
			return nil, err.Error()
		}
		p.device = part[3]
	}
	return p, ""
}

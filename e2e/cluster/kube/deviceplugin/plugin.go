package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// A plugin owns the devices of one resource.
type plugin struct {
	api.UnimplementedDevicePluginServer
	resource, variable, device, state string
	count                             int
}

// The kubelet does not tell whose devices it asks for, but asks for one Pod after the other.
var (
	shared sync.Mutex
	// What a container was last given, by variable: a resource called *.visibility shows it
	// to another container of the same Pod, as device managers do.
	given = map[string][]string{}
)

// An allocation is what the tests read.
type allocation struct {
	Resource string   `json:"resource"`
	Devices  []string `json:"devices"`
	Refused  string   `json:"refused,omitempty"`
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch tells the devices at once, and again whenever the health of one changes.
func (p *plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	told := "nothing yet"
	for stream.Context().Err() == nil {
		if sick := p.read("unhealthy"); sick != told {
			told = sick
			if err := stream.Send(&api.ListAndWatchResponse{Devices: p.devices(sick)}); err != nil {
				return err
			}
		}
		time.Sleep(look)
	}
	return nil
}

func (p *plugin) devices(sick string) []*api.Device {
	unhealthy := map[string]bool{}
	for _, id := range strings.Fields(sick) {
		unhealthy[id] = true
	}
	devices := make([]*api.Device, p.count)
	for i := range devices {
		devices[i] = &api.Device{ID: fmt.Sprintf("device-%d", i), Health: api.Healthy}
		if unhealthy[devices[i].ID] {
			devices[i].Health = api.Unhealthy
		}
	}
	return devices
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		refused := strings.TrimSpace(p.read("refuse"))
		record(allocation{Resource: p.resource, Devices: container.DevicesIds, Refused: refused})
		if refused != "" {
			return nil, errors.New(refused)
		}
		response := &api.ContainerAllocateResponse{
			Envs: map[string]string{p.variable: strings.Join(p.seen(container.DevicesIds), ",")},
		}
		if p.device != "" {
			inside := "/dev/" + p.name()
			response.Devices = []*api.DeviceSpec{{HostPath: p.device, ContainerPath: inside, Permissions: "rw"}}
		}
		answer.ContainerResponses = append(answer.ContainerResponses, response)
	}
	return answer, nil
}

// seen returns the devices that a container with *ids* of the resource finds: these, or
// else those that the Pod already holds.
func (p *plugin) seen(ids []string) []string {
	shared.Lock()
	defer shared.Unlock()
	if strings.HasSuffix(p.resource, ".visibility") {
		return given[p.variable]
	}
	given[p.variable] = ids
	return ids
}

func record(what allocation) {
	shared.Lock()
	defer shared.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(what); err != nil {
		log.Print(err)
	}
}

// read returns what the state folder says about the resource; "" if it says nothing.
func (p *plugin) read(kind string) string {
	said, err := os.ReadFile(filepath.Join(p.state, p.name()+"."+kind))
	if err != nil {
		return ""
	}
	return string(said)
}

func (p *plugin) name() string {
	return strings.ReplaceAll(p.resource, "/", "-")
}

// serve registers anew whenever the socket is gone: a kubelet removes it as it starts.
func (p *plugin) serve() {
	socket := filepath.Join(api.DevicePluginPath, p.name()+".sock")
	for {
		if err := p.serveOnce(socket); err != nil {
			log.Printf("%s: %v", p.resource, err)
		}
		time.Sleep(look)
	}
}

func (p *plugin) serveOnce(socket string) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	defer server.Stop()
	api.RegisterDevicePluginServer(server, p)
	go server.Serve(listener)
	if err := p.register(filepath.Base(socket)); err != nil {
		return err
	}
	log.Printf("%s: registered %d devices", p.resource, p.count)
	for err == nil {
		time.Sleep(look)
		_, err = os.Stat(socket)
	}
	return nil
}

func (p *plugin) register(endpoint string) error {
	connection, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(limited, &api.RegisterRequest{
		Version: api.Version, Endpoint: endpoint, ResourceName: p.resource,
	})
	return err
}

// Command podresources prints, as JSON, which devices the kubelet of this node has given
// to which container.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/podresources/v1"
)

const socket = "unix:///var/lib/kubelet/pod-resources/kubelet.sock"

type holding struct {
	Namespace string   `json:"namespace"`
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Resource  string   `json:"resource"`
	Devices   []string `json:"devices"`
}

func main() {
	connection, err := grpc.NewClient(socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	answer, err := api.NewPodResourcesListerClient(connection).List(limited, &api.ListPodResourcesRequest{})
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(holdings(answer)); err != nil {
		log.Fatal(err)
	}
}

func holdings(answer *api.ListPodResourcesResponse) []holding {
	held := []holding{}
	for _, pod := range answer.GetPodResources() {
		for _, container := range pod.GetContainers() {
			for _, given := range container.GetDevices() {
				held = append(held, holding{
					Namespace: pod.GetNamespace(), Pod: pod.GetName(), Container: container.GetName(),
					Resource: given.GetResourceName(), Devices: given.GetDeviceIds(),
				})
			}
		}
	}
	return held
}

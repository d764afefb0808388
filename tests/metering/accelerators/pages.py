"""Pages as the exporters write them: names, labels, units and order are theirs."""

CARD_A = "GPU-f809e614-a528-4083-acbf-334600000000"
CARD_B = "GPU-70e27b1c-93b9-4a9c-8e1f-334600000001"


def dcgm_card(index: int, card: str, pod: str = "", namespace: str = "team") -> str:
    """The labels of a card in dcgm-exporter's page."""
    who = f'container="main",namespace="{namespace}",pod="{pod}"' if pod else _NOBODY
    return (
        f'gpu="{index}",UUID="{card}",pci_bus_id="00000000:0{index}:00.0",device="nvidia{index}",'
        f'modelName="NVIDIA A100-SXM4-40GB",Hostname="n1",DCGM_FI_DRIVER_VERSION="580.65.06",{who}'
    )


_NOBODY = 'container="",namespace="",pod=""'

DCGM = f"""\
# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{{{dcgm_card(0, CARD_A, "box")}}} 1410
# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{{{dcgm_card(0, CARD_A, "box")}}} 41
DCGM_FI_DEV_GPU_TEMP{{{dcgm_card(1, CARD_B)}}} 33
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{{{dcgm_card(0, CARD_A, "box")}}} 122.855000
DCGM_FI_DEV_POWER_USAGE{{{dcgm_card(1, CARD_B)}}} 44.100000
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{{{dcgm_card(0, CARD_A, "box")}}} 92
DCGM_FI_DEV_GPU_UTIL{{{dcgm_card(1, CARD_B)}}} 9223372036854775794
# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{{{dcgm_card(0, CARD_A, "box")},err_code="0",err_msg="No Error"}} 0
DCGM_FI_DEV_XID_ERRORS{{{dcgm_card(1, CARD_B)},err_code="79",err_msg="Fallen off the bus"}} 79
# HELP DCGM_FI_DEV_FB_FREE Framebuffer memory free (in MiB).
# TYPE DCGM_FI_DEV_FB_FREE gauge
DCGM_FI_DEV_FB_FREE{{{dcgm_card(0, CARD_A, "box")}}} 36000
DCGM_FI_DEV_FB_FREE{{{dcgm_card(1, CARD_B)}}} 40000
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{{{dcgm_card(0, CARD_A, "box")}}} 4000
DCGM_FI_DEV_FB_USED{{{dcgm_card(1, CARD_B)}}} 0
"""


def dcgm_partition(card: str, instance: int, pod: str = "") -> str:
    """The labels of a MIG partition: those of its card, and which one it is."""
    who = f'container="main",namespace="team",pod="{pod}"' if pod else _NOBODY
    return (
        f'gpu="0",UUID="{card}",pci_bus_id="00000000:03:00.0",device="nvidia0",'
        f'modelName="NVIDIA A100-SXM4-40GB",GPU_I_PROFILE="3g.20gb",GPU_I_ID="{instance}",'
        f'Hostname="n1",{who}'
    )


DCGM_MIG = f"""\
# HELP DCGM_FI_DEV_FB_FREE Framebuffer memory free (in MiB).
# TYPE DCGM_FI_DEV_FB_FREE gauge
DCGM_FI_DEV_FB_FREE{{{dcgm_partition(CARD_A, 1, "box")}}} 15000
DCGM_FI_DEV_FB_FREE{{{dcgm_partition(CARD_A, 2)}}} 19000
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{{{dcgm_partition(CARD_A, 1, "box")}}} 4384
DCGM_FI_DEV_FB_USED{{{dcgm_partition(CARD_A, 2)}}} 6
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{{{dcgm_partition(CARD_A, 1, "box")}}} 180.2
# HELP DCGM_FI_PROF_GR_ENGINE_ACTIVE Ratio of time the graphics engine is active.
# TYPE DCGM_FI_PROF_GR_ENGINE_ACTIVE gauge
DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{dcgm_partition(CARD_A, 1, "box")}}} 0.995687
DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{dcgm_partition(CARD_A, 2)}}} 0.000000
"""


def hami_row(card: str, pod: str, namespace: str = "team") -> str:
    """The labels of a container's device in the page of HAMi's monitor."""
    return (
        f'container="main",device_uuid="{card}",namespace="{namespace}",pod="{pod}",'
        'vdevice_index="0",zone="vGPU"'
    )


def hami_legacy_row(card: str, pod: str) -> str:
    """The same under the names of before."""
    return (
        f'ctrname="main",deviceuuid="{card}",podname="{pod}",podnamespace="team",'
        'vdeviceid="0",zone="vGPU"'
    )


_HOST = f'device_index="0",device_type="NVIDIA-NVIDIA A100",device_uuid="{CARD_A}",node="n1"'

HAMI = f"""\
# HELP hami_build_info A metric with a constant '1' value
# TYPE hami_build_info gauge
hami_build_info{{version="v2.8.0"}} 1
# HELP hami_container_device_utilization_ratio Container device SM utilization ratio
# TYPE hami_container_device_utilization_ratio gauge
hami_container_device_utilization_ratio{{{hami_row(CARD_A, "box")}}} 25
hami_container_device_utilization_ratio{{{hami_row(CARD_A, "other")}}} 60
# HELP hami_host_gpu_memory_used_bytes GPU device memory usage in bytes
# TYPE hami_host_gpu_memory_used_bytes gauge
hami_host_gpu_memory_used_bytes{{{_HOST},zone="vGPU"}} 3.221225472e+09
# HELP hami_host_gpu_utilization_ratio GPU core utilization ratio (0-100)
# TYPE hami_host_gpu_utilization_ratio gauge
hami_host_gpu_utilization_ratio{{{_HOST},zone="vGPU"}} 85
# HELP hami_vgpu_memory_limit_bytes vGPU device memory limit in bytes
# TYPE hami_vgpu_memory_limit_bytes gauge
hami_vgpu_memory_limit_bytes{{{hami_row(CARD_A, "box")}}} 1.073741824e+10
hami_vgpu_memory_limit_bytes{{{hami_row(CARD_A, "other")}}} 0
# HELP hami_vgpu_memory_used_bytes vGPU device memory usage in bytes
# TYPE hami_vgpu_memory_used_bytes gauge
hami_vgpu_memory_used_bytes{{{hami_row(CARD_A, "box")}}} 1.073741824e+09
hami_vgpu_memory_used_bytes{{{hami_row(CARD_A, "other")}}} 2.147483648e+09
"""

HAMI_LEGACY = f"""\
# HELP Device_memory_desc_of_container Container device memory description
# TYPE Device_memory_desc_of_container gauge
Device_memory_desc_of_container{{context="0",data="0",module="0",offset="0",\
{hami_legacy_row(CARD_A, "box")}}} 1.073741824e+09
# HELP Device_utilization_desc_of_container Container device utilization description
# TYPE Device_utilization_desc_of_container gauge
Device_utilization_desc_of_container{{{hami_legacy_row(CARD_A, "box")}}} 25
# HELP HostCoreUtilization GPU core utilization
# TYPE HostCoreUtilization gauge
HostCoreUtilization{{deviceidx="0",deviceuuid="{CARD_A}",devicetype="NVIDIA-A100",nodeid="n1"}} 85
# HELP HostGPUMemoryUsage GPU device memory usage
# TYPE HostGPUMemoryUsage gauge
HostGPUMemoryUsage{{deviceidx="0",deviceuuid="{CARD_A}",devicetype="NVIDIA-A100",nodeid="n1"}} 3e+09
# HELP vGPU_device_memory_limit_in_bytes vGPU device limit
# TYPE vGPU_device_memory_limit_in_bytes gauge
vGPU_device_memory_limit_in_bytes{{{hami_legacy_row(CARD_A, "box")}}} 1.073741824e+10
# HELP vGPU_device_memory_usage_in_bytes vGPU device usage
# TYPE vGPU_device_memory_usage_in_bytes gauge
vGPU_device_memory_usage_in_bytes{{{hami_legacy_row(CARD_A, "box")}}} 1.073741824e+09
"""

NPU = """\
# HELP npu_chip_info_health_status the npu health status, 1 is healthy, 0 is unhealthy
# TYPE npu_chip_info_health_status gauge
npu_chip_info_health_status{id="0",namespace="team",pod_name="box",vdie_id="V-0"} 1 1788387174142
npu_chip_info_health_status{id="1",namespace="",pod_name="",vdie_id="V-1"} 0 1788387174142
# HELP npu_chip_info_hbm_total_memory the npu hbm total memory, in MB
# TYPE npu_chip_info_hbm_total_memory gauge
npu_chip_info_hbm_total_memory{id="0",namespace="team",pod_name="box",vdie_id="V-0"} 65536
# HELP npu_chip_info_hbm_used_memory the npu hbm used memory, in MB
# TYPE npu_chip_info_hbm_used_memory gauge
npu_chip_info_hbm_used_memory{id="0",namespace="team",pod_name="box",vdie_id="V-0"} 1024
# HELP npu_chip_info_utilization the ai core utilization, in percent
# TYPE npu_chip_info_utilization gauge
npu_chip_info_utilization{id="0",namespace="team",pod_name="box",vdie_id="V-0"} 150
"""

MAPPING = """\
manufacturer: ascend
labels: {id: vdie_id, index: id, namespace: namespace, pod: pod_name}
figures:
  memory_total_bytes: {family: npu_chip_info_hbm_total_memory, factor: 1048576}
  memory_used_bytes: {family: npu_chip_info_hbm_used_memory, factor: 1048576}
  cores_utilization: {family: npu_chip_info_utilization, factor: 0.01}
  unhealthy: {family: npu_chip_info_health_status, healthy: 1}
"""

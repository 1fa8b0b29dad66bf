"""The kinds of objects we speak of, and where the API server has them."""

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind by its address, so that nothing has to be discovered first."""

    api_version: str
    """`v1`, or `<group>/<version>`."""
    plural: str
    """As in the address."""
    kind: str

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """The address of an object, or of all of a namespace or the cluster."""
        root = "/api/" if "/" not in self.api_version else "/apis/"
        within = f"/namespaces/{quote(namespace, safe='')}" if namespace is not None else ""
        tail = f"/{quote(name, safe='')}" if name is not None else ""
        return f"{root}{self.api_version}{within}/{self.plural}{tail}"

    def __str__(self) -> str:
        group = self.api_version.partition("/")[0]
        return self.plural if "/" not in self.api_version else f"{self.plural}.{group}"


FUNCTIONS = Resource("sless.io/v1alpha1", "functions", "Function")
DEPLOYMENTS = Resource("apps/v1", "deployments", "Deployment")
REPLICA_SETS = Resource("apps/v1", "replicasets", "ReplicaSet")
JOBS = Resource("batch/v1", "jobs", "Job")
PODS = Resource("v1", "pods", "Pod")
SERVICES = Resource("v1", "services", "Service")
SECRETS = Resource("v1", "secrets", "Secret")
CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")
EVENTS = Resource("v1", "events", "Event")
NAMESPACES = Resource("v1", "namespaces", "Namespace")
ENDPOINT_SLICES = Resource("discovery.k8s.io/v1", "endpointslices", "EndpointSlice")

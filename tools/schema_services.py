"""The Service in front of a DaemonSet's pods."""

from __future__ import annotations

from schema_nodes import ENABLED, Node, choice, listed, number, number_or_text, record, same, text

_TARGET = number_or_text("the container's port, by number or name", "port name", minimum=1, maximum=65535)
_PORT = {
    "name": text("the port's name in the Service", "label"),
    "port": number("the Service's port", 1, 65535),
    "targetPort": _TARGET,
    "protocol": choice("the protocol (TCP)", "TCP", "UDP", "SCTP"),
    "nodePort": number("the port on every node, for the types NodePort and LoadBalancer", 1, 65535),
    **ENABLED,
}
_POLICIES = ("Cluster", "Local")
SERVICE: Node = record(
    "a Service for its port, such as a metrics exporter's",
    {
        "type": choice("how it is reached (ClusterIP)", "ClusterIP", "NodePort", "LoadBalancer"),
        "port": number("the Service's port", 1, 65535),
        "targetPort": _TARGET,
        "name": text("the port's name in the Service, for a ServiceMonitor", "label"),
        "ports": listed(record("one port", _PORT, ["port"]), "further ports of the Service, beside `port`", most=64),
        "internalTrafficPolicy": choice("whether pods reach those of their own node only (Cluster)", *_POLICIES),
        "externalTrafficPolicy": choice(
            "the same for traffic from outside, for the types NodePort and LoadBalancer (Cluster)", *_POLICIES
        ),
        "labels": same("labels", "labels for the Service alone"),
        "annotations": same("annotations", "annotations for the Service alone"),
        **ENABLED,
    },
)
"""The field `service` of an entry of daemonSets."""

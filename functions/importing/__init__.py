"""Convert hand-written Modules and their consumers to DeviceConfigs and a profile: manifests in, manifests out."""

"""From hand-written Modules and their consumers to DeviceConfigs and a profile. Pure: manifests in, manifests out."""

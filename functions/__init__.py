"""The functions of krmfn: deviceconfig and ptemplate, written on the SDK `krmfn`."""

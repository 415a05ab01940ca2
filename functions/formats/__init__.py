"""Write findings and changes for people, programs and CI: one module per family of formats."""

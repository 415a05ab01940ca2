"""krmfn"""

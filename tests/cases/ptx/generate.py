#!/usr/bin/env python3
"""Writes the generated .case files beside it. Expected values come from integers and exact fractions."""
import os

import arithmetic_cases
import hopper_cases
import tensor_cases
import warp_memory_cases
from case_writer import HERE, written

if __name__ == "__main__":
    for name in os.listdir(HERE):
        if name.endswith(".case"):
            with open(os.path.join(HERE, name)) as f:
                if f.readline().startswith("// Written by generate.py"):
                    os.remove(os.path.join(HERE, name))
    arithmetic_cases.write_all()
    tensor_cases.write_all()
    warp_memory_cases.write_all()
    hopper_cases.write_all()
    print(len(written), "cases")

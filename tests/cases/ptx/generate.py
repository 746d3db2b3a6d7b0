#!/usr/bin/env python3
"""Writes the generated .case files beside it. Expected values come from integers and exact fractions."""
import os

import arithmetic_cases
import block_cases
import cluster_cases
import convert_cases
import form_cases
import hopper_cases
import mbarrier_cases
import memory_cases
import narrow_matrix_cases
import operand_cases
import sm100_cases
import tcgen05_cases
import tensor_cases
import tensor_map_cases
import video_cases
import warp_memory_cases
import wgmma_cases
import wmma_cases
from case_writer import HERE, written

if __name__ == "__main__":
    for name in os.listdir(HERE):
        if name.endswith((".case", ".cases")):
            with open(os.path.join(HERE, name)) as f:
                if f.readline().startswith("// Written by generate.py"):
                    os.remove(os.path.join(HERE, name))
    for maker in (arithmetic_cases, warp_memory_cases, form_cases, convert_cases, memory_cases, video_cases, block_cases, operand_cases, sm100_cases, mbarrier_cases, wmma_cases, tensor_cases, hopper_cases, cluster_cases, tensor_map_cases, wgmma_cases, tcgen05_cases, narrow_matrix_cases):
        maker.write_all()
    print(len(written), "files")

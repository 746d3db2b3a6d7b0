return skill{
  id = "divergence.hoist", version = 1, phase = "refine",
  intent = "Keep the lanes of a warp on one path",
  origin = { kind = "hand" },
  causes = { "divergence" },
  pre = {
    { "branches_split", function(c)
        return (c.counters["smsp__sass_branch_targets_threads_divergent.sum"] or 0) > 0
      end },
    { "lanes_idle", function(c) return (c.view.active_lanes or 32) < 28 end },
    { "worth_it", function(c) return (c.findings["divergence"] or 1) >= 1.05 end },
  },
  advice = function(c)
    return ("%d branches split their warp%s and %.1f of 32 lanes work on average. Make the condition depend on "
      .. "the warp or block (threadIdx.x / 32, blockIdx), handle the ragged end after the main loop instead of testing "
      .. "in it, turn short branches into selects, and sort work so that neighbouring threads take the same way."):format(
      c.counters["smsp__sass_branch_targets_threads_divergent.sum"], c.where["divergence"] and " (" .. c.where["divergence"] .. ")" or "",
      c.view.active_lanes)
  end,
  expect = {
    { "smsp__sass_branch_targets_threads_divergent.sum", "down", 0.2 },
    { "smsp__thread_inst_executed_per_inst_executed.ratio", "up", 0.05 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "divergent-barrier", "out-of-bounds" },
}

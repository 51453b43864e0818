-- status.phase sums up the conditions of an EtcdCluster: docs/operations/runbook.md#phases
local phases = {
  Ready = "Healthy",
  Paused = "Suspended",
  Stalled = "Degraded",
  QuorumLost = "Degraded",
  Refused = "Degraded",
  Degraded = "Degraded",
  NoSpace = "Degraded",
  NoReadyPod = "Degraded",
}

local status = obj.status or {}
if status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the reconciler has not seen this generation yet" }
end
-- StatefulSet and EtcdCluster are applied one after the other; a member that restarts has a minute.
if status.reason == "TemplateMismatch" or status.reason == "Starting" then
  return { status = "Progressing", message = status.message }
end
return { status = phases[status.phase] or "Progressing", message = status.message }

-- status.phase sums up the conditions of an EtcdCluster: docs/operations/runbook.md#phases
local phases = {
  Ready = "Healthy",
  Paused = "Suspended",
  Stalled = "Degraded",
  QuorumLost = "Degraded",
  Refused = "Degraded",
  Degraded = "Degraded",
  NoSpace = "Degraded",
  Corrupt = "Degraded",
  NoReadyPod = "Degraded",
}

local status = obj.status or {}
-- The reconciler dates the status every ten minutes. Argo CD formats a time in its own time zone, so read its UTC clock as local.
local os = require("os")
local limit = os.date("%Y-%m-%dT%H:%M:%SZ", os.time(os.date("!*t")) - 20 * 60)
if status.observedAt and status.observedAt < limit then
  return { status = "Degraded", message = "no reconciler has reported since " .. status.observedAt }
end
if status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the reconciler has not seen this generation yet" }
end
-- StatefulSet and EtcdCluster are applied one after the other; a member that restarts has a minute.
if status.reason == "TemplateMismatch" or status.reason == "Starting" then
  return { status = "Progressing", message = status.message }
end
return { status = phases[status.phase] or "Progressing", message = status.message }

local phases = { Completed = "Healthy", Failed = "Degraded" }

local status = obj.status or {}
if status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the reconciler has not seen this generation yet" }
end
return { status = phases[status.phase] or "Progressing", message = status.message }

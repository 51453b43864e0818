local status = obj.status or {}
if status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the reconciler has not seen this generation yet" }
end
local health = { status = "Progressing" }
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Ready" then
    health.message = condition.message
    if condition.reason == "Paused" then
      health.status = "Suspended"
    elseif condition.status == "True" then
      health.status = "Healthy"
    end
  elseif condition.type == "Stalled" and condition.status == "True" then
    health.status = "Degraded"
  end
end
return health

-- Health of a KMM ManagedClusterModule, for Argo CD's Lua (5.1, without string and math). It says whether the clusters
-- have got the Module, and nothing about their nodes. KMM leaves a counter of 0 out.
if obj.status == nil then
  return {status = "Progressing", message = "KMM has not looked at it yet"}
end
local wanted = obj.status.numberDesired or 0
local applied = obj.status.numberApplied or 0
local degraded = obj.status.numberDegraded or 0
local message = "applied to " .. applied .. " of " .. wanted .. " clusters"
if degraded > 0 then
  return {status = "Degraded", message = message .. ", refused by " .. degraded}
end
local enough = wanted > 0 and 1 or 0
-- strict: a cluster that is out of reach holds back the next wave.
enough = wanted
-- strict: end
if applied < enough then
  return {status = "Progressing", message = message}
end
return {status = "Healthy", message = message}

-- Health of a KMM Module, for Argo CD's Lua (5.1, without string and math). KMM leaves a counter of 0 out.
-- What it cannot see: KMM's counters say nothing about an update, so a Module whose new image cannot be pulled is
-- Healthy while the old driver runs.
if obj.status == nil then
  return {status = "Progressing", message = "KMM has not looked at it yet"}
end

local function count(section, key)
  local counters = obj.status[section]
  return counters and counters[key] or 0
end

-- The status keeps the counters of a section that the spec no longer has.
local spec = obj.spec or {}
local loader = spec.moduleLoader
local loaded = count("moduleLoader", "availableNumber")
local message = "no driver to load"

if loader then
  local wanted = count("moduleLoader", "desiredNumber")
  message = "loaded on " .. loaded .. " of " .. wanted .. " nodes"
  if loaded < wanted then
    return {status = "Progressing", message = message}
  end
  -- strict: a node that waits for its image, or whose kernel no mapping matches, holds back the next wave.
  local matching = count("moduleLoader", "nodesMatchingSelectorNumber")
  if not (loader.container and loader.container.version) and wanted < matching then
    message = message .. "; without an image or a kernel mapping: " .. matching - wanted
    return {status = "Progressing", message = message}
  end
  -- strict: end
end

for _, section in ipairs({"devicePlugin", "dra"}) do
  if spec[section] then
    -- KMM also counts the nodes on which the driver will never be loaded, and there it cannot run.
    local wanted = count(section, "desiredNumber")
    if loader and loaded < wanted then
      wanted = loaded
    end
    local available = count(section, "availableNumber")
    message = message .. ", " .. section .. " runs on " .. available .. " of " .. wanted
    if available < wanted then
      return {status = "Progressing", message = message}
    end
  end
end
return {status = "Healthy", message = message}

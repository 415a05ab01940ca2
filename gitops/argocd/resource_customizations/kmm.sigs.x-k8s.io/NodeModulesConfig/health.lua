-- Health of a KMM NodeModulesConfig, for Argo CD's Lua (5.1, without string and math): a node has what it shall have
-- when the status lists the modules of the spec.
-- strict: and lists them with the same config, and no others.
local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  for key, value in pairs(a) do
    if not same(value, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end
-- strict: end

local function by_name(section)
  local modules, number = {}, 0
  for _, module in ipairs(section and section.modules or {}) do
    modules[module.namespace .. "/" .. module.name] = module.config or {}
    number = number + 1
  end
  return modules, number
end

local wanted, number = by_name(obj.spec)
local there = by_name(obj.status)
-- strict: a module that a pod keeps from being unloaded is waited for.
for name in pairs(there) do
  if wanted[name] == nil then
    return {status = "Progressing", message = name .. " is being unloaded"}
  end
end
-- strict: end
local loaded = 0
for name, config in pairs(wanted) do
  local is_loaded = there[name] ~= nil
  -- strict: an earlier driver counts for nothing.
  is_loaded = same(config, there[name])
  -- strict: end
  if is_loaded then
    loaded = loaded + 1
  end
end
local message = loaded .. " of " .. number .. " modules loaded"
if loaded < number then
  return {status = "Progressing", message = message}
end
return {status = "Healthy", message = message}

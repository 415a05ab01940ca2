-- Health of a KMM NodeModulesConfig, for Argo CD's Lua (5.1, without string and math): a node has what it shall have
-- when the status lists the modules of the spec.

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
local loaded = 0
for name, config in pairs(wanted) do
  local is_loaded = there[name] ~= nil
  if is_loaded then
    loaded = loaded + 1
  end
end
local message = loaded .. " of " .. number .. " modules loaded"
if loaded < number then
  return {status = "Progressing", message = message}
end
return {status = "Healthy", message = message}

-- For HTML: number the headings, which the contents list then shows too; let each table scroll below its caption on
-- narrow screens; and make the cells of its first column row headers.

local chapters, annexes, sections, current, annex = 0, 0, 0, '', ''

local function number_of(element)
  if element.level == 1 then
    sections = 0
    if element.classes:includes('closing') then
      current = ''
    elseif element.classes:includes('annex') then
      annexes = annexes + 1
      current = string.char(64 + annexes)
    else
      chapters = chapters + 1
      current = tostring(chapters)
    end
  else
    sections = sections + 1
  end
  if current ~= '' then
    local number = element.level == 1 and current or current .. '.' .. sections
    local word = element.classes:includes('annex') and annex .. ' ' or ''
    element.content:insert(1, pandoc.Space())
    element.content:insert(1, pandoc.Span(word .. number, {class = 'number'}))
  end
  return element
end

local tables = 0
local prefix = ''

local function read(meta)
  prefix = meta.prefix and pandoc.utils.stringify(meta.prefix) or ''
  annex = meta.annex and pandoc.utils.stringify(meta.annex) or ''
end

local function frame(element)
  tables = tables + 1
  local name = prefix .. 'table-' .. tables
  local caption = pandoc.utils.blocks_to_inlines(element.caption.long)
  for _, body in ipairs(element.bodies) do body.row_head_columns = 1 end
  element.attributes.widths = nil
  element.attributes['aria-labelledby'] = name
  element.caption.long = {}
  return pandoc.Div({
    pandoc.Div({pandoc.Plain(caption)}, pandoc.Attr(name, {'caption'})),
    pandoc.Div({element}, pandoc.Attr('', {'scroll'}, {{'tabindex', '0'}, {'role', 'region'}, {'aria-labelledby', name}})),
  }, pandoc.Attr('', {'table'}))
end

return {{Meta = read}, {Header = number_of, Table = frame}}

-- For HTML: number the headings, which the contents list then shows too; let each table scroll below its caption on
-- narrow screens; make the cells of its first column row headers; and link terms to the glossary.

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
local terms = {}

local function read(meta)
  prefix = meta.prefix and pandoc.utils.stringify(meta.prefix) or ''
  annex = meta.annex and pandoc.utils.stringify(meta.annex) or ''
  for term in (meta.terms and pandoc.utils.stringify(meta.terms) or ''):gmatch('%S+') do terms[term] = true end
end

-- A term leads to its entry in the glossary, where the report has one.
local function phrase(element)
  local term = element.attributes.term
  if not term then return nil end
  return terms[term] and pandoc.Link(element.content, '#term-' .. term, '', {class = 'term'}) or element.content
end

local function frame(element)
  tables = tables + 1
  local identifier = element.identifier
  element.identifier = ''
  local name = prefix .. 'table-' .. tables
  local caption = pandoc.utils.blocks_to_inlines(element.caption.long)
  for _, body in ipairs(element.bodies) do body.row_head_columns = 1 end
  element.attributes.widths = nil
  element.attributes['aria-labelledby'] = name
  element.caption.long = {}
  return pandoc.Div({
    pandoc.Div({pandoc.Plain(caption)}, pandoc.Attr(name, {'caption'})),
    pandoc.Div({element}, pandoc.Attr('', {'scroll'}, {{'tabindex', '0'}, {'role', 'region'}, {'aria-labelledby', name}})),
  }, pandoc.Attr(identifier, {'table'}))
end

return {{Meta = read}, {Span = phrase, Header = number_of, Table = frame}}

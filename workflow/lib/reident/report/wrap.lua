-- For HTML: number the headings, which the contents list then shows too; let each table scroll below its caption on
-- narrow screens; make the cells of its first column row headers; and link terms to the glossary.

local chapters, annexes, sections, current, annex = 0, 0, 0, '', ''

local function number_of(element)
  if element.classes:includes('brief') then -- a section may have the same name
    element.identifier = ''
    return element
  end
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

-- Squares fill columns from the left, as many rows to a column: one dashed line for each class and row.
local UNIT = 12
local function path(rows, from, to)
  local parts = {}
  for row = 0, rows - 1 do
    local first, last = math.max(0, math.ceil((from - row) / rows)), math.max(0, math.ceil((to - row) / rows))
    if last > first then
      parts[#parts + 1] = ('M%d %dh%d'):format(UNIT * first, UNIT * row + 5, UNIT * (last - first) - 2)
    end
  end
  return table.concat(parts)
end

local function frame_of(rows, n)
  local x, y, rest = UNIT * (n // rows), UNIT * (n % rows) - 1, n % rows > 0
  local bottom = UNIT * rows - 1
  if not rest then return ('M-1 -1H%dV%dH-1z'):format(math.max(x - 1, 0), bottom) end
  if x == 0 then return ('M-1 -1H%dV%dH-1z'):format(UNIT - 1, y) end
  return ('M-1 -1H%dV%dH%dV%dH-1z'):format(x + UNIT - 1, y, x - 1, bottom)
end

local function squares(element)
  local kind = (element.classes[1] or ''):match('^key%-(.+)$')
  if kind then
    local drawn = kind == 'room' and '<path class="room" d="M0 0h10v10H0z"/>' or '<path class="s-' .. kind .. '" d="M0 5h10"/>'
    local class = element.classes:includes('broken') and 'key broken' or 'key'
    return pandoc.RawInline('html', '<svg class="' .. class .. '" viewBox="0 0 10 10" aria-hidden="true">' .. drawn .. '</svg>')
  end
  if not element.classes:includes('squares') then return nil end
  local number = function(name) return tonumber(element.attributes[name]) end
  local total, rows = number('total'), number('rows')
  local columns, done, drawn = math.ceil(total / rows), 0, {}
  for _, name in ipairs{'held', 'single', 'found', 'suspected'} do
    local to = number(name) or 0
    if to > done then
      drawn[#drawn + 1] = ('<path class="s-%s" d="%s"/>'):format(name, path(rows, done, to))
      done = to
    end
  end
  if total > done then
    drawn[#drawn + 1] = ('<path class="s-none" d="%s"/>'):format(path(rows, done, total))
  end
  if number('room') then
    local line = frame_of(rows, number('room'))
    drawn[#drawn + 1] = ('<path class="halo" d="%s"/><path class="room" d="%s"/>'):format(line, line)
  end
  return pandoc.RawInline('html', ('<svg class="%s" viewBox="-2 -2 %d %d" aria-hidden="true">%s</svg>'):format(
    table.concat(element.classes, ' '), UNIT * columns + 2, UNIT * rows + 2, table.concat(drawn)))
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
  for _, body in ipairs(element.bodies) do
    body.row_head_columns = 1
    local last = {}
    for _, row in ipairs(body.body) do -- a line without a name has that of the line above
      local name = row.cells[1]
      if #name.contents == 0 then
        name.contents = {pandoc.Plain{pandoc.Span(last, {class = 'repeated'})}}
      else
        last = pandoc.utils.blocks_to_inlines(name.contents)
      end
    end
    for _, row in ipairs(element.classes:includes('cards') and body.body or {}) do
      for at, cell in ipairs(row.cells) do -- on a phone each cell says what it is
        cell.attributes['data-label'] = pandoc.utils.stringify(element.head.rows[1].cells[at].contents)
      end
    end
  end
  element.attributes.widths = nil
  element.attributes['aria-labelledby'] = name
  element.caption.long = {}
  return pandoc.Div({
    pandoc.Div({pandoc.Plain(caption)}, pandoc.Attr(name, {'caption'})),
    pandoc.Div({element}, pandoc.Attr('', {'scroll'}, {{'tabindex', '0'}, {'role', 'group'}, {'aria-labelledby', name}})),
  }, pandoc.Attr(identifier, {'table'}))
end

return {{Meta = read}, {Span = squares}, {Span = phrase, Header = number_of, Table = frame}}

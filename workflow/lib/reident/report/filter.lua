-- Convert pandoc's document to calls of the functions of page.typ. Text becomes string literals, so no label is
-- read as Typst. Equations and pictures keep their alternative text, which PDF/UA-1 requires and pandoc's own
-- writer drops.

local PLAIN = pandoc.WriterOptions{wrap_text = 'none'}
local LONG = 18          -- longer words may be broken anywhere, see page.typ
local BOXES = {verdict = true, findings = true, reading = true, note = true, warning = true, decision = true,
  entry = true, reason = true, sheet = true, test = true, half = true, sub = true, foot = true}
local SPANS = {
  above = 'mark', within = 'mark', reservations = 'mark', unsure = 'mark', nothing = 'mark', unknown = 'mark', none = 'mark',
  open = 'mark', aside = 'aside', file = 'file', below = 'below', part = 'part',
}

local function quoted(text)
  return '"' .. text:gsub('\\', '\\\\'):gsub('"', '\\"'):gsub('%s+', ' ') .. '"'
end

local function written(blocks)
  return (pandoc.write(pandoc.Pandoc(blocks), 'typst', PLAIN):gsub('%s+$', ''))
end

-- Return inlines as Typst. The kinds that fill tables bypass pandoc's writer, which takes a millisecond per call.
local WRAP = {Strong = '#strong[%s];', Emph = '#emph[%s];'}
local function inline(element)
  if element.t == 'Str' then return element.text end
  if element.t == 'Space' or element.t == 'SoftBreak' then return ' ' end
  if element.t == 'RawInline' then return element.text end
  local parts = {}
  if not WRAP[element.t] then return written{pandoc.Plain{element}} end
  for at, inner in ipairs(element.content) do parts[at] = inline(inner) end
  return (WRAP[element.t]:gsub('%%s', function() return table.concat(parts) end))
end

local function inlines(elements)
  local parts = {}
  for at, element in ipairs(elements) do parts[at] = inline(element) end
  return table.concat(parts)
end

local function typst(blocks)
  if #blocks == 0 then return '' end
  if #blocks == 1 and (blocks[1].t == 'Plain' or blocks[1].t == 'Para') then return inlines(blocks[1].content) end
  return written(blocks)
end

local function str(element)
  local short = utf8.len(element.text) <= LONG
  if short and element.text:match('^%a+[.,;]?$') then return nil end
  local text = quoted(element.text)
  return pandoc.RawInline('typst', short and '#' .. text .. ';' or '#long(' .. text .. ');')
end

local function code(element)
  return pandoc.RawInline('typst', '#raw(' .. quoted(element.text) .. ');')
end

local function math(element)
  local body = written{pandoc.Plain{element}}
  local words = pandoc.write(pandoc.Pandoc{pandoc.Plain{element}}, 'plain', PLAIN)
  words = words:gsub('^%$', ''):gsub('[%s$]+$', '')
  local display = element.mathtype == 'DisplayMath' and 'true' or 'false'
  return pandoc.RawInline('typst',
    '#math.equation(block: ' .. display .. ', alt: ' .. quoted(words) .. ', ' .. body .. ');')
end

-- Store the description before its words become Typst.
local function alternative(image)
  image.attributes.alt = pandoc.utils.stringify(image.caption)
  return image
end

local function digest(element)
  if element.classes:includes('digest') then
    return pandoc.RawInline('typst', '#digest(' .. quoted(pandoc.utils.stringify(element)) .. ');'), false
  end
end

-- Squares are drawn by the template; a sample of one in a legend has the class of its kind.
local function squares(element)
  local kind = element.classes[1] or ''
  local broken = element.classes:includes('broken') and ', broken: true' or ''
  if kind:match('^key%-') then return pandoc.RawInline('typst', '#sample("' .. kind:sub(5) .. '"' .. broken .. ');') end
  if kind ~= 'squares' then return nil end
  local parts = {}
  for name, value in pairs(element.attributes) do parts[#parts + 1] = name .. ': ' .. value end
  table.sort(parts)
  return pandoc.RawInline('typst', '#squares(' .. table.concat(parts, ', ') .. broken .. ');')
end

local function span(element)
  for _, class in ipairs(element.classes) do
    local name = SPANS[class]
    if name then
      local kind = name == 'mark' and '("' .. class .. '")' or ''
      return pandoc.RawInline('typst', '#' .. name .. kind .. '[' .. inlines(element.content) .. '];')
    end
  end
end

-- What the HTML marks for its script is the phrase itself.
local function phrase(element)
  if element.attributes.term then
    return element.content
  end
end

-- A link inside the report, which also names the page.
local function link(element)
  return pandoc.RawInline('typst',
    '#seen(' .. quoted(element.target:gsub('^#', '')) .. ')[' .. inlines(element.content) .. '];')
end

local function label(name)
  return name ~= '' and ' #label(' .. quoted(name) .. ')' or ''
end

local function figure(element)
  local picture
  element.content:walk{Image = function(image) picture = image end}
  return pandoc.RawBlock('typst', '#picture(' .. quoted(picture.src)
    .. ', alt: ' .. quoted(picture.attributes.alt)
    .. ', caption: [' .. typst(element.caption.long) .. '])' .. label(element.identifier))
end

local ALIGN = {AlignLeft = 'left', AlignRight = 'right', AlignCenter = 'center', AlignDefault = 'left'}

local function cells_of(row)
  local cells = {}
  for _, cell in ipairs(row.cells) do cells[#cells + 1] = '[' .. typst(cell.contents) .. ']' end
  return table.concat(cells, ', ')
end

local function data_table(element)
  local columns, align, rows = {}, {}, {}
  for width in (element.attributes.widths or ''):gmatch('%S+') do columns[#columns + 1] = width end
  for at, spec in ipairs(element.colspecs) do
    columns[at] = columns[at] or 'auto'
    align[at] = ALIGN[spec[1]]
  end
  for _, row in ipairs(element.bodies[1].body) do rows[#rows + 1] = '  ' .. cells_of(row) .. ',' end
  return pandoc.RawBlock('typst', table.concat({
    '#data-table(compact: ' .. tostring(element.classes:includes('compact')) .. ', cards: ' .. tostring(element.classes:includes('cards')) .. ',',
    '  columns: (' .. table.concat(columns, ', ') .. ',), align: (' .. table.concat(align, ', ') .. ',),',
    '  caption: [' .. typst(element.caption.long) .. '],',
    '  header: (' .. cells_of(element.head.rows[1]) .. ',),',
    table.concat(rows, '\n'),
    ')' .. label(element.identifier)}, '\n'))
end

local function div(element)
  local class = element.classes[1]
  if BOXES[class] then
    local kind = element.classes[2] and '("' .. element.classes[2] .. '")' or ''
    return pandoc.RawBlock('typst', '#' .. class .. kind .. '[\n' .. typst(element.content) .. '\n]' .. label(element.identifier))
  elseif class == 'options' or class == 'signatures' or class == 'question' or class == 'strip' or class == 'lines' or class == 'two' then
    local parts = {}
    for _, block in ipairs(element.content) do parts[#parts + 1] = '[' .. typst{block} .. ']' end
    return pandoc.RawBlock('typst', '#' .. class .. '(' .. table.concat(parts, ', ') .. ')')
  end
end

-- The class of a heading names the function that sets it: annex, closing or brief.
local function header(element)
  local name = element.classes[1] or 'chapter'
  return pandoc.RawBlock('typst', '#' .. name .. '(' .. element.level .. ')[' .. inlines(element.content) .. ']')
end

-- The order matters: every later function writes its content as Typst.
return {
  {Math = math, Code = code, Span = digest, Image = alternative},
  {Str = str},
  {Span = phrase},
  {Span = squares},
  {Span = span},
  {Link = link},
  {Table = data_table, Figure = figure},
  {Div = div, Header = header},
}

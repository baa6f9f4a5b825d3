// What the page does where scripts run: it sorts tables, chooses strata, folds lines and explains terms. Every text is in the page
// already.
'use strict';
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const copied = (name) => document.getElementById(name).content.firstElementChild.cloneNode(true);

  // Tables. Numbers are compared as numbers, in the format of the page's language; what is not a number comes last.

  const { decimal, group } = document.querySelector('main').dataset;
  const numberOf = (text) => {
    const plain = text.split(group).join('').split(decimal).join('.').replace('\u2212', '-');
    const found = plain.match(/-?\d+(\.\d+)?(e[+-]?\d+)?/);
    return found ? Number(found[0]) : NaN;
  };
  const textOf = (cell) => cell.textContent.trim();

  const sort = (table) => {
    const body = table.tBodies[0];
    const first = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    if (first.length < 3) return;
    const arrange = () => {
      const at = heads.findIndex((head) => head.hasAttribute('aria-sort'));
      const head = heads[at];
      const lines = first.map((row) => ({ row, text: head ? textOf(row.cells[at]) : '' }));
      if (head) {
        const sign = head.getAttribute('aria-sort') === 'ascending' ? 1 : -1;
        const numbers = at > 0 && lines.some(({ text }) => !Number.isNaN(numberOf(text)));
        lines.forEach((line) => { line.number = numberOf(line.text); });
        lines.sort((a, b) => {
          if (!numbers) return sign * a.text.localeCompare(b.text, root.lang, { numeric: true });
          if (Number.isNaN(a.number) || Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number);
          return sign * (a.number - b.number);
        });
      }
      body.append(...lines.map(({ row }) => row));
    };
    heads.forEach((head) => {
      const button = copied('sort');
      button.setAttribute('aria-label', filled(button.getAttribute('aria-label'), { name: head.textContent.trim() }));
      button.addEventListener('click', () => {
        const next = { ascending: 'descending', descending: '' }[head.getAttribute('aria-sort')] ?? 'ascending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        if (next) head.setAttribute('aria-sort', next);
        arrange();
      });
      head.append(' ', button);
    });
  };

  const choose = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 4) return;
    const choice = copied('choose');
    const input = choice.querySelector('input');
    const output = choice.querySelector('output');
    const text = output.dataset.text;
    input.addEventListener('input', () => {
      const wanted = input.value.trim().toLocaleLowerCase(root.lang);
      rows.forEach((row) => row.classList.toggle('left-out', !textOf(row.cells[0]).toLocaleLowerCase(root.lang).includes(wanted)));
      const n = rows.filter((row) => !row.classList.contains('left-out')).length;
      output.textContent = wanted ? filled(text, { n, total: rows.length }) : '';
    });
    table.closest('.scroll').before(choice);
  };

  // On a phone a line of these tables shows its first number, and the others when asked for.

  const fold = (row) => {
    if (row.cells.length < 3) return;
    const button = copied('more');
    row.classList.add('folded');
    button.setAttribute('aria-label', `${button.textContent}: ${textOf(row.cells[0])}`);
    button.addEventListener('click', () => {
      button.setAttribute('aria-expanded', String(!row.classList.toggle('folded')));
    });
    row.cells[0].append(' ', button);
  };

  // Terms. The meaning is shown beside a term that is pointed at, focused or touched; the link leads to the glossary.

  const explain = (meaning) => {
    let shown = null;
    const hide = () => {
      if (shown) shown.removeAttribute('aria-describedby');
      shown = null;
      meaning.hidden = true;
    };
    const show = (term) => {
      hide();
      meaning.textContent = document.getElementById(term.hash.slice(1)).textContent.trim();
      meaning.hidden = false;
      const place = term.getBoundingClientRect();
      const room = root.clientWidth - meaning.offsetWidth - 8;
      const below = place.bottom + 6 + meaning.offsetHeight < window.innerHeight;
      meaning.style.left = `${Math.max(8, Math.min(place.left, room)) + window.scrollX}px`;
      meaning.style.top = `${(below ? place.bottom + 6 : place.top - meaning.offsetHeight - 6) + window.scrollY}px`;
      term.setAttribute('aria-describedby', meaning.id);
      shown = term;
    };
    let leaving = 0;
    const stay = () => clearTimeout(leaving);
    const leave = () => { stay(); leaving = setTimeout(hide, 200); };
    let touched = false;
    all('a.term').forEach((term) => {
      term.addEventListener('pointerdown', (event) => { touched = event.pointerType === 'touch'; });
      term.addEventListener('pointerenter', (event) => { if (event.pointerType !== 'touch') { stay(); show(term); } });
      term.addEventListener('pointerleave', (event) => { if (event.pointerType !== 'touch') leave(); });
      term.addEventListener('focus', () => { if (!touched) show(term); });
      term.addEventListener('blur', hide);
      term.addEventListener('click', (event) => {
        if (touched && shown !== term) { event.preventDefault(); show(term); } else hide();
        touched = false;
      });
    });
    meaning.addEventListener('pointerenter', stay);
    meaning.addEventListener('pointerleave', leave);
    document.addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });
    document.addEventListener('pointerdown', (event) => { if (shown && !event.target.closest('a.term, #meaning')) hide(); });
  };

  all('table.sortable').forEach(sort);
  all('table.strata').forEach(choose);
  all('table.cards tbody tr').forEach(fold);
  explain(document.getElementById('meaning'));
})();

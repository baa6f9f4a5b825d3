// What the page does where scripts run: it shows another rank limit, sorts tables, chooses strata and explains terms.
// Every text is in the page already; without this script, and on paper, the page shows the study's own rank limit.
'use strict';
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const copied = (name) => document.getElementById(name).content.firstElementChild.cloneNode(true);
  const added = (parent, tag, classes) => {
    const element = document.createElement(tag);
    element.className = classes;
    parent.append(element);
    return element;
  };

  // The rank limit. A phrase and its twin for another limit are beside each other; the style sheet shows one of them.

  const twins = (phrase) => {
    const own = document.createElement('span');
    own.className = 'at-own';
    own.append(...phrase.childNodes);
    phrase.append(own);
    return added(phrase, 'span', 'at-other');
  };

  const sourceOf = (image) => {
    const bytes = Uint8Array.from(atob(image.split(',')[1]), (letter) => letter.charCodeAt(0));
    const svg = new TextDecoder().decode(bytes);
    return svg.slice(0, svg.lastIndexOf('</svg>')) + '<style>[id^="own-limit"]{display:none}</style>';
  };

  const pictureOf = (picture, phone) => {
    const image = picture.querySelector('img');
    const other = image.cloneNode();
    const layers = { wide: picture.dataset.wide.split('|'), narrow: picture.dataset.narrow.split('|') };
    const alts = picture.dataset.alts ? picture.dataset.alts.split('|') : [];
    other.className = 'at-other';
    picture.classList.add('at-own');
    return (limit) => {
      const form = phone.matches ? 'narrow' : 'wide';
      const own = phone.matches ? picture.querySelector('source').getAttribute('srcset') : image.getAttribute('src');
      other.src = 'data:image/svg+xml,' + encodeURIComponent(sourceOf(own) + layers[form][limit - 1] + '</svg>');
      other.alt = alts[limit - 1] || image.alt;
      picture.after(other); // only now: at first there is nothing to show
    };
  };

  const slide = (form) => {
    const input = form.querySelector('input');
    const output = form.querySelector('output');
    const own = Number(input.defaultValue);
    const phone = window.matchMedia('(max-width: 36rem)');
    const words = form.dataset;
    const phrases = all('[data-limits]').map((phrase) => ({ texts: phrase.dataset.limits.split(';'), twin: twins(phrase) }));
    all('span.own-limit').forEach((phrase) => { twins(phrase).textContent = words.missing; });
    const pictures = all('picture[data-wide]').map((picture) => pictureOf(picture, phone));
    const badges = [];
    const badge = (caption, text) => {
      if (!caption) return;
      const element = document.createElement('span');
      element.className = 'badge at-other';
      caption.prepend(element);
      badges.push([element, text]);
    };
    const live = new Set(all('[data-limits]').map((phrase) => phrase.closest('.table')));
    live.forEach((table) => badge(table.querySelector('.caption'),
      table.querySelector('span.own-limit') ? words.partly : words.changed));
    all('picture[data-wide]').forEach((picture) => badge(picture.closest('figure').querySelector('figcaption'),
      picture.dataset.alts ? words.drawn : words.changed));
    all('picture.own-limit').forEach((picture) => badge(picture.closest('figure').querySelector('figcaption'), words.fixed));
    all('table.own-limit').forEach((table) => badge(table.closest('.table').querySelector('.caption'), words.fixed));

    const show = () => {
      const limit = Number(input.value);
      const values = { limit, own };
      root.classList.toggle('other-limit', limit !== own);
      output.textContent = filled(limit === own ? words.own : words.other, values);
      input.setAttribute('aria-valuetext', output.textContent);
      if (limit !== own) {
        phrases.forEach(({ texts, twin }) => { twin.textContent = texts[limit - 1]; });
        badges.forEach(([element, text]) => { element.textContent = filled(text, values); });
        pictures.forEach((picture) => picture(limit));
      }
      document.dispatchEvent(new Event('rank-limit'));
    };
    input.addEventListener('input', show);
    phone.addEventListener('change', show);
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('reset', () => { setTimeout(show); });
    // The slider stays at the foot of the window down to the last figure or table that depends on it.
    const last = badges.map(([element]) => element.closest('.body > *')).filter(Boolean)
      .reduce((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? b : a));
    last.after(form);
    form.hidden = false;
    show();
  };

  // Tables. Numbers are compared as numbers, in the format of the page's language; what is not a number comes last.

  const { decimal, group } = document.querySelector('main').dataset;
  const numberOf = (text) => {
    const plain = text.split(group).join('').split(decimal).join('.').replace('\u2212', '-');
    const found = plain.match(/-?\d+(\.\d+)?(e[+-]?\d+)?/);
    return found ? Number(found[0]) : NaN;
  };
  const textOf = (cell) => {
    const shown = cell.querySelector(root.classList.contains('other-limit') ? '.at-other' : '.at-own');
    return (shown || cell).textContent.trim();
  };

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
    document.addEventListener('rank-limit', () => { if (heads.some((head) => head.hasAttribute('aria-sort'))) arrange(); });
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
  explain(document.getElementById('meaning'));
  all('form.slider').forEach(slide);
})();

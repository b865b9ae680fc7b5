// Lists what is on the page as assistive technology would find it: parents before children, hidden parts left out.
const MOST = 2000, LONGEST = 200;
const INTERACTIVE = 'a[href],button,input,select,textarea,summary,[onclick],[contenteditable=""],[contenteditable="true"],[tabindex]:not([tabindex="-1"])';
const ROLES = {a: 'link', button: 'button', select: 'picker', textarea: 'textfield', img: 'image', summary: 'button',
  h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', li: 'cell', nav: 'navigation',
  form: 'form', label: 'label', option: 'option', dialog: 'dialog', table: 'table', progress: 'progress'};
const INPUTS = {button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', password: 'securetextfield', file: 'file'};
const short = (text) => (text || '').replace(/\s+/g, ' ').trim().slice(0, LONGEST);
const own = (element) => short([...element.childNodes].filter((it) => it.nodeType === 3).map((it) => it.data).join(' '));
const byIds = (ids) => short((ids || '').split(/\s+/).map((id) => (document.getElementById(id) || {}).textContent || '').join(' '));
const roleOf = (element, tag) => element.getAttribute('role') || (tag === 'input' ? INPUTS[element.type] || 'textfield' : ROLES[tag]) || '';
const nameOf = (element, tag, role) =>
  short(element.getAttribute('aria-label')) || byIds(element.getAttribute('aria-labelledby')) ||
  (element.labels && element.labels.length ? short(element.labels[0].textContent) : '') || short(element.getAttribute('alt')) ||
  (role === 'button' && tag === 'input' ? short(element.value) : '') || short(element.getAttribute('placeholder')) ||
  (['button', 'link', 'heading', 'label', 'tab', 'menuitem', 'option'].includes(role) ? short(element.textContent) : own(element)) ||
  short(element.getAttribute('title'));
const valueOf = (element, tag, role) => {
  if (role === 'securetextfield') return element.value ? '••••' : '';
  if (tag === 'select') return short(element.selectedOptions.length ? element.selectedOptions[0].label : '');
  if (['textfield', 'slider'].includes(role)) return short(element.value !== undefined ? element.value : element.textContent);
  return '';
};
const nodes = [];
let cut = 0;
const walk = (element, parent) => {
  const style = getComputedStyle(element);
  if (style.display === 'none' || element.getAttribute('aria-hidden') === 'true') return;
  const tag = element.tagName.toLowerCase(), role = roleOf(element, tag), box = element.getBoundingClientRect();
  const isHidden = style.visibility === 'hidden' || (box.width === 0 && box.height === 0);
  const isInteractive = element.matches(INTERACTIVE), text = own(element);
  let here = parent;
  if (!isHidden && (isInteractive || role || text || element.dataset.testid)) {
    if (nodes.length >= MOST) { cut += 1; return; }
    here = nodes.length;
    nodes.push({
      parent, tag, role: role || 'text', name: nameOf(element, tag, role), id: element.id || '', test: element.dataset.testid || '',
      value: valueOf(element, tag, role), x: box.x, y: box.y, width: box.width, height: box.height, interactive: isInteractive,
      enabled: !element.disabled && element.getAttribute('aria-disabled') !== 'true', focused: element === document.activeElement,
      checked: element.checked === true || element.getAttribute('aria-checked') === 'true',
      selected: element.getAttribute('aria-selected') === 'true', expanded: element.getAttribute('aria-expanded') === 'true',
      options: tag === 'select' ? [...element.options].slice(0, 50).map((it) => short(it.label)) : [], element,
    });
  }
  if (tag === 'select' || tag === 'svg') return;
  for (const child of (element.shadowRoot || element).children) walk(child, here);
};
if (document.body) walk(document.body, -1);
return {width: innerWidth, height: innerHeight, title: short(document.title), nodes, cut};

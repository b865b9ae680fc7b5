// Finds elements by what assistive technology or developers call them; the most exact first.
const [how, wanted] = arguments;
const clean = (text) => (text || '').replace(/\s+/g, ' ').trim();
const shown = (element) => { const box = element.getBoundingClientRect(); return box.width > 0 || box.height > 0; };
const all = [];
const walk = (root) => { for (const element of root.querySelectorAll('*')) { all.push(element); if (element.shadowRoot) walk(element.shadowRoot); } };
walk(document);
const labelled = (element) => (element.labels ? [...element.labels].map((it) => clean(it.textContent)) : []);
const called = (element) => [element.getAttribute('aria-label'), element.dataset && element.dataset.testid, element.id,
  element.getAttribute('name'), element.getAttribute('alt'), element.getAttribute('placeholder'), ...labelled(element)].map(clean);
const text = (element) => clean(element.tagName === 'INPUT' && /^(button|submit|reset)$/.test(element.type) ? element.value : element.textContent);
const isLeaf = (element) => ![...element.children].some((child) => text(child) === text(element));
const isUsed = (element) => element.matches('a[href],button,input,select,summary,[role=button],[role=link],[role=tab],[role=menuitem],[onclick]');
const ways = [];
if (how !== 'text') ways.push((element) => called(element).includes(wanted));
ways.push((element) => isUsed(element) && text(element) === wanted);
if (how !== 'accessibility') ways.push((element) => element.tagName !== 'SCRIPT' && element.tagName !== 'STYLE' && text(element) === wanted && isLeaf(element));
if (how === 'accessibility') ways.push((element) => element.matches('[role]') && text(element) === wanted);
for (const fits of ways) {
  const found = all.filter((element) => fits(element));
  const visible = found.filter(shown);
  if (visible.length) return visible.slice(0, 100);
  if (found.length) return found.slice(0, 100);
}
return [];

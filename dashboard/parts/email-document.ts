/** Elements up to this size in pixels are invisible: tracking pixels, and preview text in letters of 1 px. */
const INVISIBLE_PX = 2;
/**
 * An element counts as the email's wrapper if it contains all of the email, and covers at least this share of the
 * email's width. The rest is the margin of the body.
 */
const WRAPPER_SHARE = 0.9;
/**
 * Matches the doctype, with comments and an XML declaration before it. The doctype must stay in front of all elements,
 * because browsers ignore it after an element.
 */
const DOCTYPE = /^(?:\s|<!--(?:(?!-->)[\s\S])*-->|<\?[^>]*>)*<!doctype[^>]*>/i;

/**
 * Returns the HTML of an email for a frame that forbids pop-ups. A click on a link then does nothing, instead of
 * loading the link's page in the frame. `holdLinks` does the same for links with a target of their own.
 */
export function withHeldLinks(html: string): string {
  const doctype = DOCTYPE.exec(html)?.[0] ?? '';
  return `${doctype}<base target="_blank">${html.slice(doctype.length)}`;
}

export function holdLinks(email: Document): void {
  for (const link of email.querySelectorAll('a[target], area[target]')) link.setAttribute('target', '_blank');
}

/** Extends the background of the email's wrapper over the rest of the frame, if the email has no other background. */
export function fillWithBackground({ documentElement: root, body }: Document): void {
  if (hasBackground(root) || hasBackground(body)) return;
  const color = findWrapperColor(body, root.clientWidth);
  if (color !== undefined) root.style.backgroundColor = color;
}

function hasBackground(element: Element): boolean {
  return getComputedStyle(element).backgroundImage !== 'none' || getColor(element) !== undefined;
}

/** Returns the background of the outermost element that has one and contains all of the email. */
function findWrapperColor(parent: Element, width: number): string | undefined {
  if ([...parent.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim()))
    return undefined;
  const [wrapper, other] = [...parent.children].filter(isVisible);
  if (!wrapper || other || wrapper.getBoundingClientRect().width < WRAPPER_SHARE * width) return undefined;
  return getColor(wrapper) ?? findWrapperColor(wrapper, width);
}

function isVisible(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width > INVISIBLE_PX && height > INVISIBLE_PX;
}

/** Returns the background color of an element; undefined if it is transparent. */
function getColor(element: Element): string | undefined {
  const { backgroundColor } = getComputedStyle(element);
  return /^(?:transparent|rgba\(.*, 0\))$/.test(backgroundColor) ? undefined : backgroundColor;
}

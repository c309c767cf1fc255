/** How often a link was clicked, by humans and by bots. */
export interface LinkFigures {
  /** Clicks by humans. */
  clicks: number;
  /** The number of recipients with a click by a human. */
  uniqueClicks: number;
  /** Clicks by bots. */
  machineClicks: number;
}

/** Links of a campaign's content or of one variant, in order of appearance. */
export interface LinksOf {
  urls: string[];
  /** Number of the variant. Null if the campaign has no variants. */
  variant: number | null;
}

/** Clicks on one link in the emails of one variant. `url` is undefined if the content with the link was deleted. */
export interface CountedLink extends LinkFigures {
  url: string | undefined;
  variant: number | null;
}

/** The clicks on a link in all variants together. */
export interface SummedLink extends LinkFigures {
  url: string;
  /** The clicks in each variant that contains the link. Null if the campaign has no variants. */
  variants: (LinkFigures & { name: string })[] | null;
}

/**
 * Lists each link once, with the clicks of all variants that contain it, and the clicks per variant. `names` are the
 * names of the variants, or null.
 */
export function sumLinkClicks(links: LinksOf[], names: string[] | null, counted: CountedLink[]): SummedLink[] {
  const sums = new Map<string, { all: LinkFigures; of: Map<number, LinkFigures> }>();
  const getOrAddSum = (url: string, variant: number | null) => {
    const sum = sums.get(url) ?? { all: createLinkFigures(), of: new Map<number, LinkFigures>() };
    sums.set(url, sum);
    if (variant !== null && !sum.of.has(variant)) sum.of.set(variant, createLinkFigures());
    return { all: sum.all, ofVariant: variant === null ? undefined : sum.of.get(variant) };
  };
  for (const { urls, variant } of links) for (const url of urls) getOrAddSum(url, variant);
  for (const { url, variant, ...clicks } of counted) {
    if (url === undefined) continue;
    const { all, ofVariant } = getOrAddSum(url, variant);
    addFigures(all, clicks);
    if (ofVariant) addFigures(ofVariant, clicks);
  }
  return [...sums].map(([url, { all, of }]) => ({
    url,
    ...all,
    variants: names?.flatMap((name, n) => toVariant(name, of.get(n))) ?? null,
  }));
}

function toVariant(name: string, figures: LinkFigures | undefined): (LinkFigures & { name: string })[] {
  return figures ? [{ name, ...figures }] : [];
}

function createLinkFigures(): LinkFigures {
  return { clicks: 0, uniqueClicks: 0, machineClicks: 0 };
}

function addFigures(sum: LinkFigures, { clicks, uniqueClicks, machineClicks }: LinkFigures): void {
  sum.clicks += clicks;
  sum.uniqueClicks += uniqueClicks;
  sum.machineClicks += machineClicks;
}

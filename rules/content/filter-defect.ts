import { TemplateError } from './template-error.ts';

/** An error in a filter of this service, which no value of a tenant should be able to cause. */
export class FilterDefect extends Error {}

/**
 * Wraps a filter of this service, so that its errors differ from errors of the library. The library throws if a value
 * does not fit a filter, and a step then counts the value as missing. An error of our own filter must not be mistaken
 * for that.
 */
export function ownFilter<Args extends unknown[], Result>(
  filter: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => {
    try {
      return filter(...args);
    } catch (cause) {
      if (cause instanceof TemplateError) throw cause;
      throw new FilterDefect('a filter of this service failed', { cause });
    }
  };
}

import { TemplateError } from './template-error.ts';

/** A bug in a filter of this service. No value of a tenant should be able to cause this error. */
export class FilterDefect extends Error {}

/**
 * Wraps a filter of this service, so that its errors differ from errors of the template library. The library throws if
 * a value does not fit a filter, and a step then treats the value as missing. A bug in a filter of this service must
 * not look like a missing value.
 */
export function wrapOwnFilter<Args extends unknown[], Result>(
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

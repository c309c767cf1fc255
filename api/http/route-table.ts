/** The paths that exist with their methods, to tell a wrong method (405) from a wrong path (404). */
export interface RouteTable {
  add(method: string, path: string): void;
  /** The methods that a path of a request takes; empty when there is no such path. */
  methodsOf(path: string): string[];
}

export function createRouteTable(): RouteTable {
  const methods = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  return {
    add(method, path) {
      const known = methods.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
      known.methods.add(method.toUpperCase());
      if (method.toLowerCase() === 'get') known.methods.add('HEAD');
      methods.set(path, known);
    },
    methodsOf(path) {
      const matching = [...methods.values()].filter((known) => known.pattern.test(path));
      return [...new Set(matching.flatMap((known) => [...known.methods]))].sort();
    },
  };
}

/** `{id}` is one part of a path, `*` at its end all that comes. */
function patternOf(path: string): RegExp {
  const [, fixed = path, rest] = /^(.*\/)(\*)$/.exec(path) ?? [];
  const parts = fixed.split(/\{.+?\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}${rest ? '.*' : ''}$`);
}

import { type RawBuilder, sql } from 'kysely';
import type { Checker, Type } from 'typescript/unstable/sync';
import { SymbolFlags, TypeFlags } from 'typescript/unstable/sync';

/** Whether the sample has its optional values (`full`) or not (`bare`). A statement is described in both forms. */
export type Form = 'full' | 'bare';

/** A string that most code accepts: an id. */
const TEXT = '01890000-0000-7000-8000-000000000000';

/** Creates sample values of TypeScript types, for code that builds a statement from such values. */
export class Samples {
  readonly #checker: Checker;
  readonly #form: Form;
  /** Created objects by the id of their type. Each question about a type is a call to the process of the compiler. */
  readonly #objects = new Map<number, unknown>();

  constructor(checker: Checker, form: Form) {
    this.#checker = checker;
    this.#form = form;
  }

  /** Returns a value of the type. The properties of an object are created when code reads them. */
  of(type: Type | undefined): unknown {
    if (!type) return undefined;
    const { flags } = type;
    if (flags & TypeFlags.Boolean) return this.#form === 'full';
    if (type.isLiteralType()) return type.value;
    if (flags & TypeFlags.NumberLike) return 1;
    if (flags & TypeFlags.BigIntLike) return 1n;
    if (flags & TypeFlags.VoidLike) return undefined;
    if (flags & TypeFlags.Null) return null;
    if (flags & TypeFlags.StringLike) return TEXT;
    if (type.isUnionType()) return this.of(this.#choose(type.getTypes()));
    if (flags & TypeFlags.Instantiable) {
      const constraint = this.#checker.getBaseConstraintOfType(type);
      return constraint && constraint.id !== type.id ? this.of(constraint) : TEXT;
    }
    if (type.isIntersectionType() && type.getTypes().some((part) => part.flags & TypeFlags.StringLike)) return TEXT;
    if (!(flags & (TypeFlags.Object | TypeFlags.Intersection))) return TEXT;
    const object = this.#objects.get(type.id) ?? this.#object(type);
    this.#objects.set(type.id, object);
    return object;
  }

  #choose(types: readonly Type[]): Type | undefined {
    const isAbsent = ({ flags }: Type) => (flags & (TypeFlags.VoidLike | TypeFlags.Null)) !== 0;
    const absent = types.find(isAbsent);
    return (this.#form === 'bare' && absent) || types.find((each) => !isAbsent(each));
  }

  #object(type: Type): unknown {
    const name = type.getSymbol()?.name ?? '';
    const inner = () =>
      (type.isTypeReference() ? this.#checker.getTypeArguments(type) : []).map((each) => this.of(each));
    if (this.#checker.isTupleType(type) || this.#checker.isArrayType(type)) return inner();
    if (/^(Readonly)?Set$/.test(name)) return new Set(inner());
    if (/^(Readonly)?Map$/.test(name)) return new Map([inner() as [unknown, unknown]]);
    if (name === 'Date') return new Date(0);
    if (/^(Buffer|Uint8Array)$/.test(name)) return Buffer.alloc(1);
    if (name === 'Promise') return Promise.resolve(inner()[0]);
    if (this.#checker.getPropertyOfType(type, 'toOperationNode')) return this.#fragment(type);
    const [signature] = this.#checker.getSignaturesOfType(type, 0);
    if (signature) return () => this.of(this.#checker.getReturnTypeOfSignature(signature));
    return this.#record(type);
  }

  /** Returns a fragment of SQL: a condition that is true, or an unknown value. */
  #fragment(type: Type): RawBuilder<unknown> {
    const [value] = type.isTypeReference() ? this.#checker.getTypeArguments(type) : [];
    const isCondition = value && this.#checker.typeToString(value).match(/boolean|SqlBool/);
    return isCondition ? sql`true` : sql`NULL`;
  }

  #record(type: Type): object {
    const values = new Map<string, unknown>();
    const read = (name: string | symbol): unknown => {
      if (typeof name !== 'string') return undefined;
      if (!values.has(name)) values.set(name, this.#property(type, name));
      return values.get(name);
    };
    return new Proxy(Object.create(null), {
      get: (_, name) => read(name),
      has: (_, name) => typeof name === 'string' && this.#checker.getPropertyOfType(type, name) !== undefined,
      ownKeys: () => this.#checker.getPropertiesOfType(type).map(({ name }) => name),
      getOwnPropertyDescriptor: (_, name) => ({ value: read(name), enumerable: true, configurable: true }),
    });
  }

  #property(type: Type, name: string): unknown {
    const property = this.#checker.getPropertyOfType(type, name);
    if (!property || (this.#form === 'bare' && property.flags & SymbolFlags.Optional)) return undefined;
    return this.of(this.#checker.getTypeOfSymbol(property));
  }
}

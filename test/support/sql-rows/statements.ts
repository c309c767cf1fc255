import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RawBuilder } from 'kysely';
import type { Node, SourceFile, TaggedTemplateExpression, VariableDeclaration } from 'typescript/unstable/ast';
import {
  isAwaitExpression,
  isBindingElement,
  isFunctionDeclaration,
  isIdentifier,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isTaggedTemplateExpression,
  isVariableDeclaration,
  isVariableDeclarationList,
  isVariableStatement,
} from 'typescript/unstable/ast/is';
import { type Checker, type Project, type Type, TypeFlags } from 'typescript/unstable/sync';
import { moduleRunnerTransform, transformWithOxc } from 'vite';
import { type Form, Samples } from './sample.ts';

/** A statement whose rows have a type that the code asserts: `` sql<Row>`…` `` or `` prepared<Row>`…` ``. */
export interface Statement {
  /** The file and line of the statement, such as `db/contacts/contacts.ts:110`. */
  place: string;
  row: Type;
  /** Runs the code that builds the statement, with sample values for its variables. */
  build(form: Form): RawBuilder<unknown>;
}

type Build = (sample: (index: number) => unknown) => RawBuilder<unknown>;

/**
 * Finds the statements of a file. A copy of the module gets one function for each statement, which has the code of the
 * statement and of the local fragments that it uses. All other local variables get sample values of their type. So
 * constants and functions of the module, and its imports, are the real ones.
 */
export async function findStatements(project: Project, file: string, name: string): Promise<Statement[]> {
  const source = project.program.getSourceFile(file);
  if (!source) throw new Error(`${name} is not in the project`);
  const checker = project.checker;
  const types: Type[] = [];
  const found = findSqlTemplates(source).flatMap((template) => {
    const row = findRowType(checker, template);
    return row ? [{ template, row, code: new Extract(checker, types, template).code() }] : [];
  });
  if (found.length === 0) return [];
  const builds = await runModuleCopy(
    file,
    `${source.text}\nexport const statements$ = [\n${found.map((f) => f.code).join(',\n')}\n];`,
  );
  const samples = { full: new Samples(checker, 'full'), bare: new Samples(checker, 'bare') };
  return found.map(({ template, row }, n) => ({
    place: `${name}:${source.getLineAndCharacterOfPosition(template.getStart()).line + 1}`,
    row,
    build: (form) => (builds[n] as Build)((index) => samples[form].of(types[index])),
  }));
}

function findSqlTemplates(source: SourceFile): TaggedTemplateExpression[] {
  return listDescendants(source).filter(
    (node): node is TaggedTemplateExpression =>
      isTaggedTemplateExpression(node) &&
      node.typeArguments?.length === 1 &&
      /^(sql|prepared)$/.test(node.tag.getText()),
  );
}

/**
 * Returns the asserted type if it is the type of a row: an object, but not a single value such as `SqlBool` or `Date`.
 */
function findRowType(checker: Checker, template: TaggedTemplateExpression): Type | undefined {
  const { parent } = template;
  if (isPropertyAccessExpression(parent) && parent.name.text === 'as') return undefined;
  const [argument] = template.typeArguments ?? [];
  const type = argument && checker.getTypeFromTypeNode(argument);
  if (!type || !(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return undefined;
  return /^(Date|Buffer|Array)$/.test(type.getSymbol()?.name ?? '') ? undefined : type;
}

/** Runs a copy of a module, and returns the functions that were added to it. */
async function runModuleCopy(file: string, text: string): Promise<Build[]> {
  const { code } = await transformWithOxc(text, file);
  const copy = await moduleRunnerTransform(code, null, file, code);
  const exported: Record<string, () => unknown> = {};
  const run = Object.getPrototypeOf(async () => {}).constructor(
    ...['__vite_ssr_import__', '__vite_ssr_exportName__', '__vite_ssr_import_meta__'],
    copy?.code,
  );
  await run(
    (path: string) => import(path.startsWith('.') ? new URL(path, pathToFileURL(file)).pathname : path),
    (name: string, read: () => unknown) => Object.assign(exported, { [name]: read }),
    { dirname: dirname(file), filename: file, url: pathToFileURL(file).href },
  );
  return exported.statements$?.() as Build[];
}

/** Builds a function from the code of one statement. */
class Extract {
  readonly #checker: Checker;
  readonly #types: Type[];
  readonly #template: Node;
  readonly #locals = new Map<string, Node>();
  readonly #lines: string[] = [];
  readonly #declared = new Set<string>();

  constructor(checker: Checker, types: Type[], template: Node) {
    this.#checker = checker;
    this.#types = types;
    this.#template = template;
    for (let node = template; node.parent?.parent; node = node.parent) this.#noteLocals(node.parent, node);
  }

  code(): string {
    const statement = this.#copy(this.#template);
    return `(sample$) => { ${this.#lines.join('\n')}\nreturn ${statement}; }`;
  }

  /** Records the parameters, variables and functions that a scope declares before `inner`. */
  #noteLocals(scope: Node, inner: Node): void {
    scope.forEachChild((child) => {
      if (child.pos >= inner.pos && !isFunctionDeclaration(child)) return;
      for (const name of listDeclaredNames(child)) {
        const text = name.getText();
        if (!this.#locals.has(text)) this.#locals.set(text, name);
      }
    });
  }

  /**
   * Returns the code of an expression. A value that is awaited is replaced by a sample. The variables that it uses are
   * declared first.
   */
  #copy(node: Node): string {
    const start = node.getStart();
    let text = '';
    let end = start;
    const visit = (each: Node): void => {
      if (isAwaitExpression(each)) {
        text += node.getSourceFile().text.slice(end, each.getStart()) + this.#sample(each);
        end = each.getEnd();
        return;
      }
      if (isIdentifier(each)) this.#declare(each.getText());
      each.forEachChild(visit);
    };
    visit(node);
    return text + node.getSourceFile().text.slice(end, node.getEnd());
  }

  #declare(name: string): void {
    const node = this.#locals.get(name);
    if (!node || this.#declared.has(name)) return;
    this.#declared.add(name);
    if (isFunctionDeclaration(node.parent)) {
      this.#lines.push(this.#copy(node.parent));
      return;
    }
    const declaration = findVariable(node);
    if (declaration?.initializer && canRunHere(declaration.initializer)) {
      for (const each of listDeclaredNames(declaration)) this.#declared.add(each.getText());
      const code = this.#copy(declaration.initializer);
      this.#lines.push(`const ${declaration.name.getText()} = ${code};`);
      return;
    }
    this.#lines.push(`const ${name} = ${this.#sample(node)};`);
  }

  #sample(node: Node): string {
    const type = this.#checker.getTypeAtLocation(node);
    return type ? `sample$(${this.#types.push(type) - 1})` : 'undefined';
  }
}

/** Returns the variable that declares a name or pattern. Undefined for a parameter. */
function findVariable(name: Node): VariableDeclaration | undefined {
  let node = name.parent;
  while (!isVariableDeclaration(node) && !isParameterDeclaration(node)) node = node.parent;
  return isVariableDeclaration(node) ? node : undefined;
}

/** Tells whether the code that sets a variable can run here: it awaits nothing, and no later code adds to the value. */
function canRunHere(initializer: Node): boolean {
  return !/\bawait\b|^(\[\]|\{\}|new )/.test(initializer.getText());
}

/** Returns the names that a declaration declares. */
function listDeclaredNames(node: Node): Node[] {
  if (isVariableStatement(node)) return listDeclaredNames(node.declarationList);
  if (isVariableDeclarationList(node)) return node.declarations.flatMap(listDeclaredNames);
  if (isFunctionDeclaration(node)) return node.name ? [node.name] : [];
  if (!isParameterDeclaration(node) && !isVariableDeclaration(node) && !isBindingElement(node)) return [];
  if (!node.name) return [];
  return isIdentifier(node.name) ? [node.name] : listDescendants(node.name).flatMap(listDeclaredNames);
}

function listDescendants(node: Node): Node[] {
  const all: Node[] = [];
  const visit = (each: Node): void => {
    all.push(each);
    each.forEachChild(visit);
  };
  node.forEachChild(visit);
  return all;
}

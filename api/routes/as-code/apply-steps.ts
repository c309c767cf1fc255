import { unsealStepConfig } from '../../../db/workflows/step-secrets.ts';
import {
  deleteStep,
  deleteTransition,
  insertStep,
  insertTransition,
  updateStep,
} from '../../../db/workflows/workflow-steps.ts';
import type { Step, Transition, WorkflowDetail } from '../../../db/workflows/workflows.ts';
import { isSameJson, listChangedFields } from '../../../rules/as-code/changes.ts';
import { renameInCondition, replaceSlugsByIds, type UnknownName } from '../../../rules/as-code/references.ts';
import { addStoredSecrets } from '../../../rules/as-code/step-secrets.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { STEPS } from '../../../rules/executions/steps/registry.ts';
import { refusePrivateUrl } from '../workflow-steps/private-urls.ts';
import { checkConfig } from '../workflow-steps/routes.ts';
import { type ApplyState, addFinding, checkSender, refuseUnknownSlugs, withFieldPrefix } from './apply-state.ts';
import type { StepItem, WorkflowItem } from './input.ts';

type Config = Record<string, unknown>;

interface StepLocation {
  item: WorkflowItem;
  current: WorkflowDetail;
}

/**
 * Changes the steps of a workflow to match the file. Returns the ids of the steps by slug, and the changed steps as
 * `steps.<slug>`. A step whose type changes is removed and added again.
 */
export async function applySteps(
  applying: ApplyState,
  p: StepLocation,
): Promise<{ ids: Map<string, string>; changes: string[] }> {
  const { item, current } = p;
  const ids = new Map(current.steps.map((step) => [step.slug, step.id]));
  if (!item.steps) return { ids, changes: [] };
  refuseDuplicateSlugs(item.steps);
  const changes: string[] = [];
  const wanted = new Map(item.steps.map((step) => [step.slug, step]));
  for (const step of current.steps) {
    if (wanted.get(step.slug)?.type === step.type) continue;
    await removeStep(applying, current.id, step.id);
    ids.delete(step.slug);
    changes.push(`steps.${step.slug}`);
  }
  for (const [i, step] of item.steps.entries()) {
    const stored = current.steps.find(({ slug, type }) => slug === step.slug && type === step.type);
    const id = await withFieldPrefix(`steps.${i}`, () => applyStep(applying, { workflow: p, step, stored }));
    if (id === undefined) continue;
    ids.set(step.slug, id);
    if (!changes.includes(`steps.${step.slug}`)) changes.push(`steps.${step.slug}`);
  }
  return { ids, changes };
}

function refuseDuplicateSlugs(steps: readonly StepItem[]): void {
  const seen = new Set<string>();
  for (const [i, { slug }] of steps.entries()) {
    if (seen.has(slug)) throw createFieldError(`steps.${i}.slug`, 'Another step has this slug.');
    seen.add(slug);
  }
}

async function removeStep(applying: ApplyState, workflowId: string, stepId: string): Promise<void> {
  const { trx, projectId, outbox } = applying;
  outbox.push(...(await deleteStep(trx, { projectId, workflowId, stepId, splice: false })));
}

/** Adds or changes a step. Returns its id, or undefined if it did not change. */
async function applyStep(
  applying: ApplyState,
  p: { workflow: StepLocation; step: StepItem; stored: Step | undefined },
): Promise<string | undefined> {
  const { trx, projectId, secretKey } = applying;
  const { step, stored } = p;
  const workflowId = p.workflow.current.id;
  const open = stored && unsealStepConfig(secretKey, stored);
  const config = step.config || !open ? await buildConfig(applying, { ...p, open }) : open;
  const { name, position } = step;
  if (!stored || !open) {
    const newStep = {
      projectId,
      workflowId,
      type: step.type,
      name: name ?? step.type,
      slug: step.slug,
      config,
      secretKey,
    };
    return (await insertStep(trx, { ...newStep, position: position ?? null, autoConnect: false })).id;
  }
  const changes = listChangedFields({ name, position, config }, { ...stored, config: open });
  if (changes.length === 0) return undefined;
  await updateStep(trx, { projectId, workflowId, stepId: stored.id, name, position, config, secretKey });
  return stored.id;
}

/**
 * Returns the config of a step to store, with ids instead of slugs and with the stored secrets.
 * @throws AppError VALIDATION_ERROR
 */
async function buildConfig(
  applying: ApplyState,
  p: { workflow: StepLocation; step: StepItem; open: Config | undefined },
): Promise<Config> {
  const { step, open } = p;
  const of = { kind: 'workflow', slug: p.workflow.item.slug, step: step.slug };
  const { names, sendsEmail } = STEPS[step.type];
  const configWithSecrets = withSecrets(applying, { step, open, of });
  const configWithIds =
    names === 'condition'
      ? replaceConditionSlugs(applying, { config: configWithSecrets, of })
      : replaceSlugsByIds(configWithSecrets, applying.ids, (name) => refuseUnknownSlugs([name], 'config'), names);
  if (open && isSameJson(configWithIds, open)) return open;
  const config = checkConfig(step.type, configWithIds, open);
  refusePrivateUrl(step.type, config, { allowPrivate: applying.allowPrivate, stored: open });
  return sendsEmail ? withSender(applying, { config, open, of }) : config;
}

function withSecrets(applying: ApplyState, p: { step: StepItem; open: Config | undefined; of: Config }): Config {
  const { type, config: fileConfig = {} } = p.step;
  const { config, missing } = addStoredSecrets(fileConfig, { stored: p.open, secretsIn: STEPS[type].secretsIn });
  for (const field of missing) {
    const message = `The ${field} of the step ${p.of.step} needs a secret, which is neither in the files nor stored in this project for the same host. Set it on the step.`;
    addFinding(applying, { code: 'secret_missing', severity: 'warning', message, details: { ...p.of, field } });
  }
  return config;
}

/**
 * Returns a condition with ids instead of slugs. An id in the file is a reference to a segment or topic that had been
 * deleted when the project was exported. Such an id stays, and the response gets a finding.
 * @throws AppError VALIDATION_ERROR for an unknown slug
 */
function replaceConditionSlugs(applying: ApplyState, p: { config: Config; of: Config }): Config {
  const unknown: UnknownName[] = [];
  const condition = renameInCondition(p.config, applying.ids, (name) => void unknown.push(name));
  refuseUnknownSlugs(
    unknown.filter(({ name }) => !/^[0-9a-f]{8}-/.test(name)),
    'config',
  );
  for (const { kind, name } of unknown) {
    const code = kind === 'topic' ? 'unknown_topic' : 'unknown_segment';
    const message = `The step ${p.of.step} refers to the ${kind} ${name}, which does not exist.`;
    addFinding(applying, { code, severity: 'warning', message, details: { ...p.of, [kind]: name } });
  }
  return condition as Config;
}

/**
 * Returns the config with a sender that may send. If the new `from` is not a verified sender, the stored `from` stays.
 * If none is stored, `from` is removed.
 */
async function withSender(
  applying: ApplyState,
  { config, open, of }: { config: Config; open: Config | undefined; of: Config },
): Promise<Config> {
  const sender = readSender(config);
  if (sender === undefined || sender === readSender(open) || (await checkSender(applying, sender, of))) return config;
  const { from: _, ...rest } = config;
  return open?.from === undefined ? rest : { ...rest, from: open.from };
}

function readSender(config: Config | undefined): string | undefined {
  const from = config?.from;
  if (typeof from === 'string') return from;
  const email = typeof from === 'object' && from !== null ? Reflect.get(from, 'email') : undefined;
  return typeof email === 'string' ? email : undefined;
}

/** Changes the transitions of a workflow to match the file. Returns whether a transition was added or deleted. */
export async function applyTransitions(
  applying: ApplyState,
  p: StepLocation & { ids: ReadonlyMap<string, string> },
): Promise<boolean> {
  const { trx, projectId } = applying;
  const { item, current, ids } = p;
  if (!item.transitions) return false;
  const wanted = item.transitions.map(({ from, to, branch }, i) => ({
    i,
    fromStepId: requireStepId(ids, from, `transitions.${i}.from`),
    toStepId: requireStepId(ids, to, `transitions.${i}.to`),
    branch: (branch ?? null) as Transition['branch'],
  }));
  const key = (t: Pick<Transition, 'fromStepId' | 'toStepId' | 'branch'>) =>
    `${t.fromStepId} ${t.toStepId} ${t.branch}`;
  const keys = new Set(wanted.map(key));
  const stepIds = new Set(ids.values());
  const removedTransitions = current.transitions.filter((transition) => !keys.has(key(transition)));
  for (const { id, fromStepId, toStepId } of removedTransitions) {
    // Transitions of a removed step were deleted with it.
    if (!stepIds.has(fromStepId) || !stepIds.has(toStepId)) continue;
    await deleteTransition(trx, { projectId, workflowId: current.id, transitionId: id });
  }
  const storedKeys = new Set(current.transitions.map(key));
  const newTransitions = wanted.filter((transition) => !storedKeys.has(key(transition)));
  for (const { i, ...transition } of newTransitions) {
    await withFieldPrefix(`transitions.${i}`, () =>
      insertTransition(trx, { projectId, workflowId: current.id, ...transition }),
    );
  }
  return removedTransitions.length + newTransitions.length > 0;
}

function requireStepId(ids: ReadonlyMap<string, string>, slug: string, field: string): string {
  const id = ids.get(slug);
  if (id === undefined) throw createFieldError(field, `There is no step with the slug ${slug}.`);
  return id;
}

import { findPrivateHostReason } from '../../../channels/public-address.ts';
import type { Step, WorkflowDetail } from '../../../db/workflows/workflows.ts';
import { AppError, createFieldError, type FieldError } from '../../../rules/errors.ts';
import type { StepConfig } from '../../../rules/executions/steps/definition.ts';
import type { StepType } from '../../../rules/executions/steps/registry.ts';

const EXPRESSION = /\{\{.*?\}\}/gs;
const REMEDY = 'Use a public URL. For development, WEBHOOK_ALLOW_PRIVATE=true allows private addresses.';

/**
 * Refuses a WEBHOOK step with a private URL, because the service would never make the request of the step. The API
 * refuses webhook endpoints with a private URL too. A stored step with a private URL can be changed if the host stays
 * the same. A host with variables is checked when the step runs.
 * @throws AppError VALIDATION_ERROR at `config.url`
 */
export function refusePrivateUrl(
  type: StepType,
  { url }: StepConfig,
  p: { allowPrivate: boolean; stored?: StepConfig | undefined },
): void {
  if (p.allowPrivate || type !== 'WEBHOOK') return;
  const reason = findPrivateUrlReason(url);
  if (reason === undefined || parseHost(url) === parseHost(p.stored?.url)) return;
  throw createFieldError('config.url', `${reason}, so the step would never make its request. ${REMEDY}`);
}

/**
 * Returns an error for each step with a private URL. Such a step was stored while WEBHOOK_ALLOW_PRIVATE was true, or by
 * a release that did not refuse these URLs.
 */
export function findPrivateUrls(steps: readonly Step[]): FieldError[] {
  return steps.flatMap(({ id, type, name, config }) => {
    const reason = type === 'WEBHOOK' ? findPrivateUrlReason(config.url) : undefined;
    if (reason === undefined) return [];
    return [{ field: `steps.${id}`, message: `WEBHOOK “${name}” never makes its request: ${reason}`, code: 'custom' }];
  });
}

/**
 * Refuses to enable a disabled workflow if a WEBHOOK step has a private URL.
 * @throws AppError VALIDATION_ERROR with an error for each step
 */
export function assertPublicUrls({ enabled, steps }: WorkflowDetail): void {
  const errors = enabled ? [] : findPrivateUrls(steps);
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors, suggestion: REMEDY });
}

function findPrivateUrlReason(url: unknown): string | undefined {
  const parsed = parse(url);
  // A variable in the host may have any value, so only a host without variables is checked. A host that ends with
  // `localhost` is private, whatever comes before it.
  const isFixed = parsed?.hostname === parse(url, '9')?.hostname || parsed?.hostname.endsWith('localhost');
  return parsed && isFixed ? findPrivateHostReason(parsed) : undefined;
}

function parseHost(url: unknown): string | undefined {
  return parse(url)?.hostname;
}

/** Parses a URL after replacing each variable by `value`. */
function parse(url: unknown, value = '1'): URL | undefined {
  const text = String(url).replaceAll(EXPRESSION, value);
  return URL.canParse(text) ? new URL(text) : undefined;
}

import { getProjectWithOwnSettings, lockProject, type Project } from '../../../db/projects/projects.ts';
import { updateProject } from '../../../engine/projects/project-changes.ts';
import { listChangedFields } from '../../../rules/as-code/changes.ts';
import { replaceSlugsByIds } from '../../../rules/as-code/references.ts';
import { AppError } from '../../../rules/errors.ts';
import { type ApplyState, addFinding, parseItem, recordChange, refuseUnknownSlugs } from './apply-state.ts';
import { isObject } from './document.ts';
import { Settings } from './input.ts';

type Json = Record<string, unknown>;

const LIMITS = ['sendRatePerSecond', 'monthlyEmailLimit', 'bounceGuard', 'complaintGuard'] as const;

/**
 * Applies settings. Unchanged settings require no scope, so that a key can apply a document that it has exported.
 * @returns the changed settings
 * @throws AppError FORBIDDEN for a change by a caller that may not manage the project
 */
export async function applySettings(applying: ApplyState, settings: Json, mayManage: boolean): Promise<Json> {
  const { trx, projectId } = applying;
  await lockProject(trx, projectId);
  const current = await getProjectWithOwnSettings(trx, projectId);
  const wanted = dropForbiddenLimits(
    applying,
    current,
    parseItem(Settings, replaceSettingSlugs(applying, dropUnknownSettings(applying, settings)), 'settings'),
  );
  const changes = listChangedFields(wanted, current);
  if (changes.length > 0 && !mayManage) {
    throw new AppError('FORBIDDEN', {
      message: `The settings ${changes.join(', ')} differ, and no API key may change them.`,
      details: { requiredScope: 'project:manage', changes },
      suggestion: 'Apply without `settings`, or sign in as a user who manages the project.',
    });
  }
  if (changes.length > 0) await updateProject(trx, { projectId, changes: wanted, fieldPrefix: 'settings' });
  recordChange(applying, { kind: 'settings', slug: null, name: null }, changes);
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => changes.includes(name)));
}

function dropUnknownSettings(applying: ApplyState, settings: Json): Json {
  const unknown = Object.keys(settings).filter((name) => !(name in Settings.shape));
  for (const setting of unknown) {
    const message = `A project has no setting ${setting.slice(0, 100)}, so it was ignored.`;
    addFinding(applying, {
      code: 'unknown_setting',
      severity: 'warning',
      message,
      details: { kind: 'settings', setting },
    });
  }
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !unknown.includes(name)));
}

/** Replaces the slugs of templates in the settings by ids. */
function replaceSettingSlugs({ ids }: ApplyState, settings: Json): Json {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      isObject(value)
        ? replaceSlugsByIds(value, ids, (unknown) => refuseUnknownSlugs([unknown], `settings.${name}`))
        : value,
    ]),
  );
}

/** Removes limits above the operator's maximum and records a finding for each, so that the rest can be applied. */
function dropForbiddenLimits<Wanted extends { [Limit in (typeof LIMITS)[number]]?: number | null | undefined }>(
  applying: ApplyState,
  current: Project,
  wanted: Wanted,
): Wanted {
  const allowedSettings = { ...wanted };
  for (const setting of LIMITS) {
    const [value, ceiling] = [wanted[setting], current.operatorLimits[setting]];
    if (value === undefined || value === current[setting] || ceiling === null) continue;
    if (value !== null && value <= ceiling) continue;
    delete allowedSettings[setting];
    const message = `The operator of this service allows at most ${ceiling} as ${setting}: it does not change.`;
    const details = { kind: 'settings', setting, wanted: value, most: ceiling };
    addFinding(applying, { code: 'operator_limit', severity: 'warning', message, details });
  }
  return allowedSettings;
}

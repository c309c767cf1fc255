// Converts the resources of a project to the form of files: identified by slug, without ids, dates and secrets.

import type { Campaign, CampaignContent } from '../../../db/campaigns/campaigns.ts';
import type { Template } from '../../../db/contents/templates.ts';
import type { Project } from '../../../db/projects/projects.ts';
import type { Segment } from '../../../db/segments/segments.ts';
import type { Topic } from '../../../db/topics/topics.ts';
import { unsealStepConfig } from '../../../db/workflows/step-secrets.ts';
import type { Step, WorkflowDetail } from '../../../db/workflows/workflows.ts';
import { type Names, renameInCondition, replaceIdsBySlugs } from '../../../rules/as-code/references.ts';
import { removeSecrets } from '../../../rules/as-code/step-secrets.ts';
import type { CampaignTiming } from '../../../rules/campaigns/timing.ts';
import { pickEmailText } from '../../../rules/content/email-text.ts';
import { STEPS } from '../../../rules/executions/steps/registry.ts';
import { Settings } from './input.ts';

type Json = Record<string, unknown>;

/** Returns the project's settings in the form of a file, which refers to templates by slug. */
export function toSettingsFile(project: Project, slugs: Names): Json {
  const names = Object.keys(Settings.shape) as (keyof typeof Settings.shape)[];
  return Object.fromEntries(
    names.map((name) => {
      const value: unknown = project[name];
      return [name, isObject(value) ? replaceIdsBySlugs(value, slugs) : value];
    }),
  );
}

export function toTopicFile({ slug, name, description, defaultSubscribed }: Topic) {
  return { slug, name, description, defaultSubscribed };
}

export function toTemplateFile({ id: _, createdAt: __, updatedAt: ___, slug, ...fields }: Template, slugs: Names) {
  return { slug, ...replaceIdsBySlugs({ ...fields }, slugs) };
}

export function toSegmentFile({ slug, name, description, type, condition, trackMembership }: Segment, slugs: Names) {
  return { slug, name, description, type, condition: renameInCondition(condition, slugs), trackMembership };
}

/**
 * Returns the fields of a campaign's file, but still with ids instead of slugs. `sendingWindow` is `project` if the
 * project's window applies.
 */
export function toCampaignFields(content: CampaignContent & { timing: CampaignTiming }) {
  const { name, description, audienceType, segmentId, audienceFilter } = content;
  const { topicId = null, variants = null, test = null } = content;
  const { sendingWindow = 'project', ...timing } = content.timing;
  return {
    name,
    description,
    ...pickEmailText(content),
    audienceType,
    segmentId,
    audienceFilter,
    topicId,
    variants,
    test,
    sendingWindow,
    ...timing,
  };
}

export function toCampaignFile({ slug, ...campaign }: Campaign, slugs: Names) {
  const { audienceFilter, ...fields } = toCampaignFields(campaign);
  return { slug, ...replaceIdsBySlugs(fields, slugs), audienceFilter: renameInCondition(audienceFilter, slugs) };
}

export function toWorkflowFile(
  { id: _, createdAt: __, updatedAt: ___, entryStepId, steps, transitions, slug, ...fields }: WorkflowDetail,
  p: { slugs: Names; secretKey: string },
) {
  const slugOfStep = new Map(steps.map((step) => [step.id, step.slug]));
  return {
    slug,
    ...fields,
    entry: (entryStepId && slugOfStep.get(entryStepId)) ?? null,
    steps: steps.map((step) => toStepFile(step, p)),
    transitions: transitions.map(({ fromStepId, toStepId, branch }) => ({
      from: slugOfStep.get(fromStepId) ?? '',
      to: slugOfStep.get(toStepId) ?? '',
      branch,
    })),
  };
}

function toStepFile(step: Step, p: { slugs: Names; secretKey: string }) {
  const { slug, type, name, position } = step;
  return { slug, type, name, config: toStepConfigFile(type, unsealStepConfig(p.secretKey, step), p.slugs), position };
}

function toStepConfigFile(type: Step['type'], config: Json, slugs: Names): Json {
  const { names, secretsIn } = STEPS[type];
  const configWithoutSecrets = removeSecrets(config, secretsIn);
  return names === 'condition'
    ? (renameInCondition(configWithoutSecrets, slugs) as Json)
    : replaceIdsBySlugs(configWithoutSecrets, slugs, names);
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

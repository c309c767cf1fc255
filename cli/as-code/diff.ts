import { listChangedFields } from '../../rules/as-code/changes.ts';
import type { ProjectFiles } from './files.ts';
import { type ApplyResult, applyProject, fetchProject, type ServiceAccess } from './service.ts';

/** The differences between files and a project. */
export interface ProjectDifferences {
  /**
   * One line for each change that a push would make, and for each resource that exists only in the project. A push does
   * not change the resources that exist only in the project.
   */
  lines: string[];
  findings: ApplyResult['findings'];
}

/**
 * Returns the differences between the files and the project. Compares the settings in this process, because API keys
 * cannot have the scope for changes of settings, which the service requires also for a dry run.
 */
export async function listDifferences(service: ServiceAccess, files: ProjectFiles): Promise<ProjectDifferences> {
  const project = await fetchProject(service);
  const { created, updated, findings } = await applyProject(service, { kinds: files.kinds }, true);
  const settings = listChangedFields(files.settings ?? {}, project.settings ?? {});
  const onlyInProject = [...project.kinds].flatMap(([kind, resources]) => {
    const slugsInFiles = new Set((files.kinds.get(kind) ?? []).map(({ slug }) => slug));
    return resources.flatMap(({ slug }) =>
      slugsInFiles.has(slug) ? [] : [`- ${kind}/${slug} is only in the project`],
    );
  });
  const lines = [
    ...created.map(({ kind, slug }) => `+ ${kind}s/${slug} is only in the files`),
    ...updated.map(({ kind, slug, changes }) => `~ ${kind}s/${slug}: ${changes.join(', ')}`),
    ...(settings.length > 0 ? [`~ settings: ${settings.join(', ')}`] : []),
    ...onlyInProject,
  ];
  return { lines, findings };
}

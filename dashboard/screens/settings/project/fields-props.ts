import type { ResponseOf } from '../../../api/client.ts';
import type { ProjectDraft } from './project-draft.ts';

/** Props of every part of the form. */
export interface FieldsProps {
  draft: ProjectDraft;
  set: (changes: Partial<ProjectDraft>) => void;
  /** The API's error of a field. */
  fault: (field: string) => string | undefined;
  project: ResponseOf<'getProject'>;
}

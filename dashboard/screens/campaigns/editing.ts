import type { ApiFailure } from '../../api/client.ts';
import type { CampaignDraft } from './campaign-draft.ts';
import type { Campaign, CampaignEditorStep } from './words.ts';

/** Props of the editor's steps. */
export interface Editing {
  campaign: Campaign;
  draft: CampaignDraft;
  /** @param isOwnStep whether the change is undone alone, and not with the changes just before and after it */
  change: (part: Partial<CampaignDraft>, isOwnStep?: boolean) => void;
  /** Saves the draft. Returns the new `updatedAt`, or false if the API refused; the editor then shows the errors. */
  save: () => Promise<string | false>;
  isSaving: boolean;
  isUnsaved: boolean;
  /** The API's error of a field, by the field's name. */
  fault: (field: string) => string | undefined;
  failure: ApiFailure | null;
  isReadOnly: boolean;
  goTo: (step: CampaignEditorStep) => void;
}

import type { Migration } from 'kysely';
import * as accounts from './migrations/20261121T0800-accounts.ts';
import * as contacts from './migrations/20261121T0801-contacts.ts';
import * as content from './migrations/20261121T0802-content.ts';
import * as messages from './migrations/20261121T0803-messages.ts';
import * as events from './migrations/20261121T0804-events.ts';
import * as workflows from './migrations/20261121T0805-workflows.ts';
import * as campaigns from './migrations/20261121T0806-campaigns.ts';
import * as storefront from './migrations/20261121T0807-storefront.ts';
import * as access from './migrations/20261121T0830-access.ts';
import * as filterFunctions from './migrations/20261121T0900-filter-functions.ts';
import * as segmentCounts from './migrations/20261121T0905-segment-counts.ts';
import * as activity from './migrations/20261121T0920-activity.ts';
import * as webhooks from './migrations/20261121T0930-webhooks.ts';
import * as storefrontRestocks from './migrations/20261121T0935-storefront-restocks.ts';
import * as holdGuard from './migrations/20261121T1000-hold-guard.ts';
import * as webhookTurns from './migrations/20261122T0130-webhook-turns.ts';
import * as openExecutions from './migrations/20261122T0221-open-executions.ts';
import * as sesMessages from './migrations/20261122T0230-ses-messages.ts';
import * as erasedContents from './migrations/20261122T0231-erased-contents.ts';
import * as erasedAttachments from './migrations/20261122T0241-erased-attachments.ts';
import * as sendTurns from './migrations/20261122T1406-send-turns.ts';
import * as fairOutbox from './migrations/20261122T1409-fair-outbox.ts';
import * as executionBounds from './migrations/20261122T1413-execution-bounds.ts';
import * as timerSeconds from './migrations/20261122T1413-timer-seconds.ts';
import * as workflowLine from './migrations/20261122T1504-workflow-line.ts';
import * as attachmentRetention from './migrations/20261122T1509-attachment-retention.ts';
import * as beginRates from './migrations/20261122T1533-begin-rates.ts';
import * as urlSecrets from './migrations/20261122T1724-url-secrets.ts';
import * as idempotencyOwners from './migrations/20261122T1733-idempotency-owners.ts';
import * as sharedAddresses from './migrations/20261122T1737-shared-addresses.ts';
import * as strangersEvents from './migrations/20261122T1739-strangers-events.ts';
import * as campaignPause from './migrations/20261122T1740-campaign-pause.ts';
import * as unsubscribedOnce from './migrations/20261122T1742-unsubscribed-once.ts';
import * as ledgerFillfactor from './migrations/20261122T1819-ledger-fillfactor.ts';
import * as operatorLimits from './migrations/20261122T1840-operator-limits.ts';
import * as attachmentsAsTheyAre from './migrations/20261122T2046-attachments-as-they-are.ts';
import * as preheader from './migrations/20261122T2149-preheader.ts';
import * as asCodeSlugs from './migrations/20261122T2152-as-code-slugs.ts';
import * as simulatedEmails from './migrations/20261122T2152-simulated-emails.ts';
import * as campaignVariants from './migrations/20261122T2155-campaign-variants.ts';
import * as sendingTimes from './migrations/20261122T2156-sending-times.ts';
import * as sandboxExecutions from './migrations/20261122T2159-sandbox-executions.ts';
import * as topics from './migrations/20261122T2159-topics.ts';
import * as workflowAutomations from './migrations/20261122T2159-workflow-automations.ts';
import * as campaignControl from './migrations/20261122T2203-campaign-control.ts';
import * as stepVisitCounts from './migrations/20261122T2207-step-visit-counts.ts';
import * as frequencyCap from './migrations/20261122T2208-frequency-cap.ts';
import * as doubleOptIn from './migrations/20261122T2215-double-opt-in.ts';
import * as eventActors from './migrations/20261122T2222-event-actors.ts';
import * as frequencyPlaces from './migrations/20261122T2232-frequency-places.ts';
import * as bounceWords from './migrations/20261122T2302-bounce-words.ts';
import * as signInLinks from './migrations/20261123T0035-sign-in-links.ts';
import * as assets from './migrations/20261123T0037-assets.ts';
import * as segmentHistory from './migrations/20261123T0037-segment-history.ts';
import * as mailHours from './migrations/20261123T0038-mail-hours.ts';
import * as sandboxSms from './migrations/20261123T0040-sandbox-sms.ts';
import * as suppressionActors from './migrations/20261123T0040-suppression-actors.ts';
import * as campaignFigures from './migrations/20261123T0046-campaign-figures.ts';
import * as processes from './migrations/20261123T0100-processes.ts';
import * as invitations from './migrations/20261123T0105-invitations.ts';
import * as requestLog from './migrations/20261123T0108-request-log.ts';
import * as domainSeen from './migrations/20261123T0142-domain-seen.ts';
import * as smsExecutions from './migrations/20261123T0706-sms-executions.ts';
import * as campaignSlugs from './migrations/20261123T0708-campaign-slugs.ts';
import * as endedVisits from './migrations/20261123T0709-ended-visits.ts';
import * as assetObjects from './migrations/20261123T0710-asset-objects.ts';
import * as webhookAnswers from './migrations/20261123T0711-webhook-answers.ts';
import * as segmentMemberChanges from './migrations/20261123T0732-segment-member-changes.ts';
import * as visitsByBranch from './migrations/20261123T1918-visits-by-branch.ts';
import * as machineHours from './migrations/20261123T1942-machine-hours.ts';
import * as installation from './migrations/20261126T0119-installation.ts';
import * as refusalsByAddress from './migrations/20261126T0121-refusals-by-address.ts';
import * as periodicWork from './migrations/20261126T0122-periodic-work.ts';
import * as deletedRows from './migrations/20261126T0123-deleted-rows.ts';
import * as waitingChunks from './migrations/20261126T0123-waiting-chunks.ts';
import * as installationTokens from './migrations/20261126T0126-installation-tokens.ts';
import * as smsStops from './migrations/20261126T0156-sms-stops.ts';
import * as routePauses from './migrations/20261126T0209-route-pauses.ts';
import * as automaticReplies from './migrations/20261126T0256-automatic-replies.ts';
import * as receivedDigests from './migrations/20261126T0316-received-digests.ts';
import * as idempotencyFingerprints from './migrations/20261127T0250-idempotency-fingerprints.ts';
import * as campaignEdits from './migrations/20261127T0255-campaign-edits.ts';
import * as eventRefusals from './migrations/20261127T0722-event-refusals.ts';
import * as publicKeyMode from './migrations/20261127T1313-public-key-mode.ts';
import * as nfcDefinitions from './migrations/20261127T1321-nfc-definitions.ts';
import * as reentryKey from './migrations/20261127T1330-reentry-key.ts';
import * as reentryIndex from './migrations/20261127T1331-reentry-index.ts';
import * as nfcData from './migrations/20261127T1345-nfc-data.ts';
import * as snsSubscriptions from './migrations/20261127T1405-sns-subscriptions.ts';
import * as nfcRunning from './migrations/20261127T1425-nfc-running.ts';
import * as filterZone from './migrations/20261127T2040-filter-zone.ts';
import * as messagesWithoutContact from './migrations/20261128T0930-messages-without-contact.ts';
import * as contactUpdates from './migrations/20261128T1008-contact-updates.ts';
import * as smsPairs from './migrations/20261128T1945-sms-pairs.ts';
import * as addressesWithoutContact from './migrations/20261129T1602-addresses-without-contact.ts';
import * as contactUpdatesByVacuum from './migrations/20261129T1631-contact-updates-by-vacuum.ts';
import * as emailFailures from './migrations/20261130T2102-email-failures.ts';
import * as phoneUpdates from './migrations/20261201T1830-phone-updates.ts';

/**
 * Migrations that run outside a transaction, to build an index CONCURRENTLY or to commit each batch separately. Each of
 * these migrations is safe to run twice.
 */
export const CONCURRENT_MIGRATIONS: ReadonlySet<string> = new Set([
  '20261127T1331-reentry-index',
  '20261128T0930-messages-without-contact',
  '20261127T1345-nfc-data',
  '20261127T1425-nfc-running',
  '20261128T1008-contact-updates',
  '20261128T1945-sms-pairs',
  '20261129T1602-addresses-without-contact',
]);

/**
 * All migrations by name. The migrator runs them in the order of their names. `npm run migration:new -- <name>` adds a
 * migration. Never change the statements of a migration that has been merged.
 */
export const MIGRATIONS: Record<string, Migration> = {
  '20261121T0800-accounts': accounts,
  '20261121T0801-contacts': contacts,
  '20261121T0802-content': content,
  '20261121T0803-messages': messages,
  '20261121T0804-events': events,
  '20261121T0805-workflows': workflows,
  '20261121T0806-campaigns': campaigns,
  '20261121T0807-storefront': storefront,
  '20261121T0830-access': access,
  '20261121T0900-filter-functions': filterFunctions,
  '20261121T0905-segment-counts': segmentCounts,
  '20261121T0920-activity': activity,
  '20261121T0930-webhooks': webhooks,
  '20261121T0935-storefront-restocks': storefrontRestocks,
  '20261121T1000-hold-guard': holdGuard,
  '20261122T0130-webhook-turns': webhookTurns,
  '20261122T0221-open-executions': openExecutions,
  '20261122T0230-ses-messages': sesMessages,
  '20261122T0231-erased-contents': erasedContents,
  '20261122T0241-erased-attachments': erasedAttachments,
  '20261122T1406-send-turns': sendTurns,
  '20261122T1409-fair-outbox': fairOutbox,
  '20261122T1413-execution-bounds': executionBounds,
  '20261122T1413-timer-seconds': timerSeconds,
  '20261122T1504-workflow-line': workflowLine,
  '20261122T1509-attachment-retention': attachmentRetention,
  '20261122T1533-begin-rates': beginRates,
  '20261122T1724-url-secrets': urlSecrets,
  '20261122T1733-idempotency-owners': idempotencyOwners,
  '20261122T1737-shared-addresses': sharedAddresses,
  '20261122T1739-strangers-events': strangersEvents,
  '20261122T1740-campaign-pause': campaignPause,
  '20261122T1742-unsubscribed-once': unsubscribedOnce,
  '20261122T1819-ledger-fillfactor': ledgerFillfactor,
  '20261122T1840-operator-limits': operatorLimits,
  '20261122T2046-attachments-as-they-are': attachmentsAsTheyAre,
  '20261122T2149-preheader': preheader,
  '20261122T2152-as-code-slugs': asCodeSlugs,
  '20261122T2203-campaign-control': campaignControl,
  '20261122T2159-topics': topics,
  '20261122T2159-workflow-automations': workflowAutomations,
  '20261122T2159-sandbox-executions': sandboxExecutions,
  '20261122T2152-simulated-emails': simulatedEmails,
  '20261122T2207-step-visit-counts': stepVisitCounts,
  '20261122T2208-frequency-cap': frequencyCap,
  '20261122T2156-sending-times': sendingTimes,
  '20261122T2155-campaign-variants': campaignVariants,
  '20261122T2222-event-actors': eventActors,
  '20261122T2215-double-opt-in': doubleOptIn,
  '20261122T2232-frequency-places': frequencyPlaces,
  '20261122T2302-bounce-words': bounceWords,
  '20261123T0040-suppression-actors': suppressionActors,
  '20261123T0035-sign-in-links': signInLinks,
  '20261123T0046-campaign-figures': campaignFigures,
  '20261123T0040-sandbox-sms': sandboxSms,
  '20261123T0037-segment-history': segmentHistory,
  '20261123T0037-assets': assets,
  '20261123T0038-mail-hours': mailHours,
  '20261123T0100-processes': processes,
  '20261123T0108-request-log': requestLog,
  '20261123T0105-invitations': invitations,
  '20261123T0142-domain-seen': domainSeen,
  '20261123T0706-sms-executions': smsExecutions,
  '20261123T0711-webhook-answers': webhookAnswers,
  '20261123T0732-segment-member-changes': segmentMemberChanges,
  '20261123T0710-asset-objects': assetObjects,
  '20261123T0708-campaign-slugs': campaignSlugs,
  '20261123T0709-ended-visits': endedVisits,
  '20261123T1918-visits-by-branch': visitsByBranch,
  '20261123T1942-machine-hours': machineHours,
  '20261126T0119-installation': installation,
  '20261126T0123-waiting-chunks': waitingChunks,
  '20261126T0123-deleted-rows': deletedRows,
  '20261126T0121-refusals-by-address': refusalsByAddress,
  '20261126T0122-periodic-work': periodicWork,
  '20261126T0126-installation-tokens': installationTokens,
  '20261126T0209-route-pauses': routePauses,
  '20261126T0156-sms-stops': smsStops,
  '20261126T0256-automatic-replies': automaticReplies,
  '20261126T0316-received-digests': receivedDigests,
  '20261127T0250-idempotency-fingerprints': idempotencyFingerprints,
  '20261127T0255-campaign-edits': campaignEdits,
  '20261127T0722-event-refusals': eventRefusals,
  '20261127T1313-public-key-mode': publicKeyMode,
  '20261127T1321-nfc-definitions': nfcDefinitions,
  '20261127T1330-reentry-key': reentryKey,
  '20261127T1331-reentry-index': reentryIndex,
  '20261127T1345-nfc-data': nfcData,
  '20261127T1405-sns-subscriptions': snsSubscriptions,
  '20261127T1425-nfc-running': nfcRunning,
  '20261127T2040-filter-zone': filterZone,
  '20261128T0930-messages-without-contact': messagesWithoutContact,
  '20261128T1008-contact-updates': contactUpdates,
  '20261128T1945-sms-pairs': smsPairs,
  '20261129T1602-addresses-without-contact': addressesWithoutContact,
  '20261129T1631-contact-updates-by-vacuum': contactUpdatesByVacuum,
  '20261130T2102-email-failures': emailFailures,
  '20261201T1830-phone-updates': phoneUpdates,
};

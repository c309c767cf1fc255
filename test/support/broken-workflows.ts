/** Workflows that throw in each workflow task, like workflows with an error in their code. */
async function fail(): Promise<never> {
  throw new Error('this build is broken');
}

export {
  fail as bulkJob,
  fail as campaignSend,
  fail as contactExecution,
  fail as contactImport,
  fail as webhookDelivery,
};

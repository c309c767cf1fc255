/** The workflows of a build that throws in each workflow task, as an error in their code does. */
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

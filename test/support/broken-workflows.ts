/** The workflows of a build that throws in each workflow task, as an error in their code does. */
async function broken(): Promise<never> {
  throw new Error('this build is broken');
}

export {
  broken as bulkJob,
  broken as campaignSend,
  broken as contactExecution,
  broken as contactImport,
  broken as webhookDelivery,
};

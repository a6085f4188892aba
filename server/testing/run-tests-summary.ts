/** What Vitest's JSON reporter writes, as far as it is read here. */
export interface VitestReport {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Counts every test. A file that failed without a failed test (it did not load, or a hook threw) counts as one failure,
 * and so does a run that failed otherwise: unhandled errors, or no report at all.
 */
export function countTests(report: VitestReport | undefined, exitCode: number | null): TestCounts {
  const files = report?.testResults ?? [];
  const statuses = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const passed = statuses.filter((status) => status === 'passed').length;
  const failedTests = statuses.filter((status) => status === 'failed').length;
  const brokenFiles = files.filter(
    (file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
  ).length;
  const failed = failedTests + brokenFiles;
  return {
    passed,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: statuses.length - passed - failedTests,
  };
}

/** The last line of the output. */
export function summaryLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A run succeeds when tests ran and none failed. */
export function isSuccess({ passed, failed }: TestCounts): boolean {
  return passed > 0 && failed === 0;
}

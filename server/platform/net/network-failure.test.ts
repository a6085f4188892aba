import { expect, it } from 'vitest';
import { explainFailure, OutboundError } from './index.ts';

function explainCode(code: string): unknown {
  return explainFailure(Object.assign(new Error(code), { code }));
}

it.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'unreachable', 'certificate'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unreachable', 'certificate'],
  ['CERT_HAS_EXPIRED', 'unreachable', 'certificate'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'unreachable', 'certificate'],
  ['INVALID_CA', 'unreachable', 'certificate'],
  ['HOSTNAME_MISMATCH', 'unreachable', 'certificate'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'unreachable', 'TLS'],
  ['ERR_TLS_PROTOCOL_VERSION_CONFLICT', 'unreachable', 'TLS'],
  ['EPROTO', 'unreachable', 'EPROTO'],
  ['EADDRNOTAVAIL', 'unreachable', 'EADDRNOTAVAIL'],
  ['HPE_INVALID_CHUNK_SIZE', 'bad_response', 'not valid HTTP'],
  ['UND_ERR_DESTROYED', 'aborted', 'closing'],
])('%s is %s', (code, kind, words) => {
  expect(explainCode(code)).toMatchObject({ name: 'OutboundError', kind, message: expect.stringContaining(words) });
});

it('the first of several attempts speaks for all', () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  expect(explainFailure(new AggregateError([refused, new Error('other')], 'all failed'))).toMatchObject({
    kind: 'unreachable',
  });
  expect(explainFailure(new AggregateError([], 'none was made'))).toBeInstanceOf(AggregateError);
});

it.each([['ERR_INVALID_ARG_TYPE'], ['ERR_STREAM_WRITE_AFTER_END'], ['']])('%j is a mistake of ours', (code) => {
  expect(explainCode(code)).not.toBeInstanceOf(OutboundError);
});

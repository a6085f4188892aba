import { hash } from 'node:crypto';
import { termsOf } from '../../../platform/text/index.ts';

/** A text that shows how texts are cut into terms: words, their stems and cases, widths, marks, scripts, numbers. */
export const PROBE =
  'Connected CONNECTIONS, happily get_order-status v2.0 ＡＢＣ１２ ﬁnd naïve Ключи don’t e\u0301te 查询北京天气 東京タワー 한국어 क्षेत्र a1b2 x';

/** Names how texts become terms. What was cut in another way is of no use to questions that are cut in this one. */
export const TERMS_VERSION = hash('sha256', JSON.stringify([process.versions['unicode'], termsOf(PROBE)]));

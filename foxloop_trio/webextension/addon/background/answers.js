// answers: waits for what a document answers to a question that changes nothing.
//
// `answer(question, call)`: the reply; given up as soon as the call is. `within(question, call, ms, platform)`: the same, or null
// when it does not come in that time.

// For questions that change nothing: given up as soon as the call is.
export async function answer(question, call) {
  let giveUp;
  const aborted = new Promise((_, reject) => {
    giveUp = () => {
      question.cancel();
      question.forget();
      reject(call.signal.reason);
    };
    call.signal.addEventListener("abort", giveUp);
  });
  try {
    call.signal.throwIfAborted();
    return await Promise.race([question.answer, aborted]);
  } finally {
    call.signal.removeEventListener("abort", giveUp);
  }
}

export async function within(question, call, ms, { setTimeout, clearTimeout }) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => {
      question.cancel();
      question.forget();
      resolve(null);
    }, ms);
  });
  try {
    return await Promise.race([answer(question, call), late]);
  } finally {
    clearTimeout(timer);
  }
}

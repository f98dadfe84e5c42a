import SwitchyardServices

extension FailoverState {
    /// The reason why a timer has fired.
    enum Look {
        /// The wait for the failover budget is over.
        case held(Held)
        /// The newest attempt is slow.
        ///
        /// `tried` contains the names of the servers that were tried so far, and `timer` is the sequence number of the
        /// next timer to set.
        case slow(Attempt?, tried: [Server.ID], timer: Int)
    }

    /// The state of an attempt whose transfer has just been started.
    enum Attachment {
        /// The attempt waits for its response.
        case waiting
        /// The response arrived immediately.
        case answered
        /// The request has ended, so the attempt must be cancelled.
        case unwanted
    }

    /// What follows the end of an attempt.
    enum Step {
        /// Nothing follows, because the attempt or the request had already ended, or because another attempt continues.
        case none
        /// The attempt did not end the request, and another attempt may follow.
        case tryAnother
        /// The request has ended.
        case end(Ending)
    }
}

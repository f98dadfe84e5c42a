public import SwitchyardClient
public import SwitchyardTransport

extension ServerList {
    /// The settings of a ``ServerList``.
    public struct Options: Sendable {
        /// The longest delay of the first fetch, 30 s by default.
        ///
        /// The delay is random, so that not all clients fetch the list at the same moment after an outage.
        public var startDelay = Duration.seconds(30)
        /// The interval between two fetches, 8 hours by default.
        ///
        /// Each interval varies at random by a quarter.
        public var interval = Duration.seconds(28_800)
        /// The minimum time between a fetch and a later fetch that is caused by a change of the network path or a
        /// failure of all servers, 1 minute by default.
        public var minimumPause = Duration.seconds(60)
        /// The maximum time for the whole response of one URL, 10 s by default.
        public var timeout = Duration.seconds(10)
        /// The time for which a list is still accepted after it has expired, 7 days by default.
        public var grace = Duration.seconds(604_800)
        /// The version of the list that contains the servers built into the app, by default 0.
        ///
        /// A list with a lower version is not used. Without this number, an app that has been updated would use the
        /// servers of an older list from the disk until it reaches a URL of the list.
        public var builtInVersion = 0
        /// The source of changes of the network path, by default the system.
        ///
        /// If `nil`, a change causes no fetch.
        public var reachability: (any ReachabilityProvider)? = SystemReachability.shared
        /// The transport of the fetches.
        ///
        /// If `nil`, the default, the transport of the client is used. If a transport is set, the fetches use its trust
        /// settings and its connections instead of the client's. The list does not shut this transport down.
        public var transport: (any Transport)?
        /// The seed of the random delays, by default a random number of the system.
        public var seed = UInt64.random(in: .min ... .max)

        /// Creates options with the default values of the properties.
        public init() {}

        func check() throws(ServerListError) {
            let durations = [("startDelay", startDelay), ("minimumPause", minimumPause), ("grace", grace)]
            for (name, duration) in durations where duration < .zero {
                throw .invalidOption(name, allowed: "a duration of at least 0")
            }
            guard interval >= .seconds(60) else {
                throw .invalidOption("interval", allowed: "a duration of at least 60 s")
            }
            guard timeout > .zero, timeout <= .seconds(300) else {
                throw .invalidOption("timeout", allowed: "a duration above 0 s and of at most 300 s")
            }
        }
    }
}

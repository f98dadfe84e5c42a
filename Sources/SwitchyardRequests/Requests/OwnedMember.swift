import SwitchyardClient

/// A group member whose call belongs to a user in an environment (its owner).
protocol OwnedMember {
    /// The user and environment of the call, or `nil` if the call is not bound to a user.
    var owner: CallOwner? { get }
}

extension GroupMember {
    var callOwner: CallOwner? { (self as? any OwnedMember)?.owner }
}

extension APIRequest: OwnedMember {
    var owner: CallOwner? { configuration.outlivesLogout ? nil : configuration.callOwner }
}
